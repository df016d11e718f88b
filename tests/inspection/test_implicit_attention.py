"""A gated state is a weighted sum of all its candidates, exactly."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import build_stack
from seqlab.cells.additive import Additive
from seqlab.cells.base import GatedCell, cells
from seqlab.core.errors import UsageError
from seqlab.inspection.implicit_attention import implicit_attention
from seqlab.inspection.unroll import unroll

IN, HIDDEN, TIME = 3, 5, 7
OPTIONS: dict[str, dict[str, Any]] = {"projected_lstm": {"proj_size": 2}}
GATED = [name for name in cells.names() if issubclass(cells.get(name), GatedCell)]
CONVEX = ["additive", "coupled_lstm", "gru", "min_gru", "reset_before_gru", "single_gate"]
"""Cells that write exactly where they do not keep."""


def some_steps(batch: int = 2, time: int = TIME) -> Tensor:
    return torch.randn(batch, time, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(8))


@pytest.mark.spec(69, 70)
@pytest.mark.parametrize("name", GATED)
def test_the_weighted_candidates_of_every_gated_cell_add_up_to_its_state(name: str) -> None:
    torch.manual_seed(3)
    cell = cells.get(name)(IN, HIDDEN, **OPTIONS.get(name, {})).double()
    state = tuple(torch.randn(2, size, dtype=torch.float64) for size in cell.state_sizes)
    unrolled = unroll(cell, some_steps(), state=state)
    attention = implicit_attention(unrolled)
    states = torch.stack(unrolled.trace().carry, dim=1).detach().numpy()
    np.testing.assert_allclose(attention.reconstructed, states, rtol=0, atol=1e-14)
    assert attention.error < 1e-14
    if name in CONVEX:
        np.testing.assert_allclose(attention.weights.sum(axis=2) + attention.initial_weights, 1.0)


@pytest.mark.spec(70)
def test_the_weights_are_the_products_of_the_closed_form_in_plain_numbers() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(IN, HIDDEN).double()
    unrolled = unroll(layer, some_steps(batch=1))
    attention = implicit_attention(unrolled)
    gates = unrolled.trace().gates
    for now in range(TIME):
        for unit in range(HIDDEN):
            forget = [step["forget"][0, unit].item() for step in gates]
            for then in range(TIME):
                expected = (
                    gates[then]["input"][0, unit].item() * prod(forget[then + 1 : now + 1])
                    if then <= now
                    else 0.0
                )
                assert attention.weights[0, now, then, unit] == pytest.approx(expected, rel=1e-12)
            assert attention.initial_weights[0, now, unit] == pytest.approx(
                prod(forget[: now + 1]), rel=1e-12
            )
    np.testing.assert_allclose(attention.alignment[0], attention.weights[0].mean(axis=-1))


@pytest.mark.spec(69)
def test_any_candidate_function_is_weighted_in_the_same_way() -> None:
    cell = Additive(
        IN, HIDDEN, candidate=lambda projected, hidden: torch.sin(3 * projected) - hidden.square()
    ).double()
    assert implicit_attention(unroll(cell, some_steps())).error < 1e-14


def test_a_walk_backwards_weighs_the_steps_that_come_later() -> None:
    torch.manual_seed(1)
    both = nn.GRU(IN, HIDDEN, bidirectional=True).double()
    attention = implicit_attention(unroll(both, some_steps()), reverse=True)
    assert attention.error < 1e-14
    is_later = np.triu(np.ones((TIME, TIME), dtype=bool))
    assert (attention.alignment[:, is_later] > 0).all()
    assert (attention.alignment[:, ~is_later] == 0).all()


def test_padding_has_no_weight_and_no_row() -> None:
    torch.manual_seed(1)
    stack = build_stack(IN, cells.get("coupled_lstm"), [4, HIDDEN], bidirectional=True).double()
    steps = some_steps()
    for reverse in (False, True):
        ragged = implicit_attention(unroll(stack, steps, [7, 4]), reverse=reverse)
        alone = implicit_attention(unroll(stack, steps[1:, :4]), reverse=reverse)
        np.testing.assert_allclose(ragged.weights[1, :4, :4], alone.weights[0])
        np.testing.assert_allclose(ragged.initial_weights[1, :4], alone.initial_weights[0])
        assert (ragged.weights[1, :4, 4:] == 0).all()
        assert np.isnan(ragged.weights[1, 4:]).all()
        assert ragged.error < 1e-14


def test_the_table_of_a_sequence_splits_each_row_into_start_past_and_now() -> None:
    attention = implicit_attention(unroll(nn.GRU(IN, HIDDEN).double(), some_steps()))
    for line in attention.table(sequence=1):
        assert line["start"] + line["past"] + line["now"] == pytest.approx(1.0)
    assert attention.table()[0]["past"] == 0.0


def test_a_cell_without_gates_has_no_such_weights() -> None:
    with pytest.raises(UsageError, match="RNN has no gates"):
        implicit_attention(unroll(nn.RNN(IN, HIDDEN).double(), some_steps()))

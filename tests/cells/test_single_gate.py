"""The single-gate cell: its equations by hand, its size, and the fast scan beside the plain one."""

from __future__ import annotations

from math import exp, tanh

import pytest
import torch
from torch import nn

from seqlab.cells.gate_convention import GateConvention
from seqlab.cells.single_gate import SingleGate
from tests.cells.fast_and_plain import (
    assert_fast_equals_plain,
    assert_gradients_are_right,
    drawn,
    with_drawn_weights,
)

KEEPS: list[GateConvention] = ["old", "new"]


@pytest.mark.spec(67)
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("bias", [True, False])
def test_one_step_follows_the_equations(keep: GateConvention, bias: bool) -> None:
    cell = SingleGate(1, 1, keep=keep, bias=bias)
    weights = {"input": torch.tensor([[0.1], [-0.5]]), "recurrent": torch.tensor([[0.2], [0.6]])}
    cell.load_state_dict(weights | ({"bias": torch.tensor([0.7, -0.8])} if bias else {}))
    x, state = 2.0, -1.0
    gate = 1 / (1 + exp(-(0.1 * x + 0.2 * state + 0.7 * bias)))
    candidate = tanh(-0.5 * x + 0.6 * state - 0.8 * bias)
    expected = (
        (1 - gate) * state + gate * candidate if keep == "new" else gate * state + (1 - gate) * candidate
    )
    output, (last,) = cell(torch.tensor([[x]]), (torch.tensor([[state]]),))
    assert output.item() == pytest.approx(expected)
    assert torch.equal(output, last)


@pytest.mark.spec(67)
def test_by_default_the_gate_keeps_the_new_value_and_its_size_is_as_printed() -> None:
    def count(cell: nn.Module) -> int:
        return sum(parameter.numel() for parameter in cell.parameters())

    assert SingleGate(2, 3).keep == "new"
    assert count(SingleGate(10, 20, bias=False)) == 2 * (10 * 20 + 20 * 20) == 1_200
    assert count(SingleGate(10, 20)) == 1_240


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("keep", KEEPS)
def test_the_fast_scan_equals_the_plain_one(keep: GateConvention, bias: bool) -> None:
    assert_fast_equals_plain(SingleGate(3, 5, keep=keep, bias=bias))


@pytest.mark.parametrize("keep", KEEPS)
def test_gradients_are_right(keep: GateConvention) -> None:
    assert_gradients_are_right(SingleGate(2, 3, keep=keep))


def test_a_closed_gate_copies_the_state_and_an_open_one_replaces_it() -> None:
    cell = with_drawn_weights(SingleGate(3, 5))
    state, inputs = drawn(2, 5, seed=8), drawn(2, 3)
    with torch.no_grad():
        cell.get_parameter("bias")[:5] = -1e3
        assert torch.equal(cell(inputs, (state,))[0], state)
        cell.get_parameter("bias")[:5] = 1e3
        projected = cell.project(inputs)
        assert torch.equal(
            cell.step(projected, (state,))[0], torch.tanh(projected[:, 5:] + state @ cell.recurrent[5:].T)
        )

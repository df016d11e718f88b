"""The additive path: a product of gates while they are held fixed, and more than that in truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.base import GatedCell, cells
from seqlab.core.errors import UsageError
from seqlab.inspection.memory_path import memory_path
from seqlab.inspection.unroll import unroll

IN, HIDDEN, TIME = 3, 5, 7
OPTIONS: dict[str, dict[str, Any]] = {"projected_lstm": {"proj_size": 2}}
GATED = [name for name in cells.names() if issubclass(cells.get(name), GatedCell)]


def some_steps(batch: int = 2, time: int = TIME) -> Tensor:
    return torch.randn(batch, time, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(8))


@pytest.mark.spec(95)
def test_with_gates_held_fixed_the_memory_of_an_lstm_passes_the_product_of_forget_gates() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(IN, HIDDEN).double()
    unrolled = unroll(layer, some_steps(batch=1))
    gates = [{name: value.detach() for name, value in of_step.items()} for of_step in unrolled.trace().gates]
    path = memory_path(unrolled)
    for distance in range(TIME):
        start = unrolled.trace().memory[TIME - 1 - distance].detach()

        def rest(memory: Tensor, later: int = TIME - distance) -> Tensor:
            for step in gates[later:]:
                memory = step["forget"] * memory + step["input"] * step["candidate"]
            return memory

        expected = torch.autograd.functional.jacobian(rest, start)[0, :, 0]
        np.testing.assert_allclose(np.diag(path.kept[0, distance]), expected, rtol=0, atol=1e-15)
        assert path.direct_norms[0, distance] == pytest.approx(
            float(torch.linalg.matrix_norm(expected, ord=2))
        )
    assert (path.kept <= 1).all()
    assert (np.diff(path.kept, axis=1) <= 0).all()


@pytest.mark.spec(95)
def test_the_way_through_the_hidden_state_can_explode_while_the_gates_cannot() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(IN, HIDDEN, bias=False).double()
    with torch.no_grad():
        layer.weight_ih_l0.mul_(0.1)
        layer.weight_hh_l0.mul_(12.0)  # gates and candidate that answer violently to the hidden state
    steps = some_steps(batch=1, time=20) * 0.01
    path = memory_path(unroll(layer, steps))
    assert path.direct_norms[0].max() <= 1
    assert path.total_norms[0, -1] > 1e3
    assert path.indirect_norms[0, -1] == pytest.approx(path.total_norms[0, -1], rel=1e-3)
    lines = path.table()
    assert lines[0] == {"distance": 0, "direct": 1.0, "whole": 1.0, "other": 0.0}
    assert lines[-1]["whole"] == path.total_norms[0, -1]


@pytest.mark.spec(95)
def test_without_recurrent_weights_the_gates_are_all_there_is() -> None:
    layer = nn.LSTM(IN, HIDDEN).double()
    with torch.no_grad():
        layer.weight_hh_l0.zero_()
    path = memory_path(unroll(layer, some_steps(), [7, 4]))
    np.testing.assert_allclose(path.total_norms, path.direct_norms)
    assert np.nanmax(path.indirect_norms) < 1e-15
    assert np.isnan(path.kept[1, 4:]).all()


@pytest.mark.parametrize("name", GATED)
def test_every_gated_cell_keeps_between_none_and_all_of_its_state(name: str) -> None:
    torch.manual_seed(3)
    path = memory_path(unroll(cells.get(name)(IN, HIDDEN, **OPTIONS.get(name, {})).double(), some_steps()))
    assert ((path.kept > 0) & (path.kept <= 1)).all()
    # The three norms are of three matrices, one the sum of the other two.
    assert (path.total_norms <= path.direct_norms + path.indirect_norms + 1e-12).all()


def test_a_cell_without_gates_is_refused() -> None:
    with pytest.raises(UsageError, match="RNN has no gates"):
        memory_path(unroll(nn.RNN(IN, HIDDEN).double(), some_steps()))

"""The coupled LSTM: its equations by hand, its size, what it cannot do, and the fast scan beside the plain
one.
"""

from __future__ import annotations

from math import tanh

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell
from seqlab.cells.coupled_lstm import CoupledLSTM
from seqlab.cells.lstm import LSTM
from seqlab.cells.step_layout import Packing
from tests.cells.fast_and_plain import assert_fast_equals_plain, drawn
from tests.cells.lstm_family import (
    after_one_step,
    assert_step_and_scan_have_right_gradients,
    num_parameters,
    set_gate,
    sigmoid,
)


@pytest.mark.parametrize("bias", [True, False])
def test_one_step_follows_the_equations(bias: bool) -> None:
    cell = CoupledLSTM(1, 1, bias=bias)
    weights = {
        "input": torch.tensor([[0.1], [0.3], [-0.5]]),
        "recurrent": torch.tensor([[0.2], [-0.4], [0.6]]),
    }
    cell.load_state_dict(weights | ({"bias": torch.tensor([0.7, -0.8, 0.9])} if bias else {}))
    x, hidden, cell_state = 2.0, -1.0, 3.0
    forget = sigmoid(0.1 * x + 0.2 * hidden + 0.7 * bias)
    candidate = tanh(0.3 * x - 0.4 * hidden - 0.8 * bias)
    output_gate = sigmoid(-0.5 * x + 0.6 * hidden + 0.9 * bias)
    new_memory = forget * cell_state + (1 - forget) * candidate
    assert after_one_step(cell, x, hidden, cell_state) == pytest.approx(
        (output_gate * tanh(new_memory), new_memory)
    )


@pytest.mark.spec(64)
def test_it_has_a_quarter_fewer_parameters_than_the_lstm() -> None:
    assert num_parameters(CoupledLSTM(10, 20)) == 1_860
    assert num_parameters(CoupledLSTM(10, 20)) / num_parameters(LSTM(10, 20)) == 0.75


@pytest.mark.parametrize("bias", [True, False])
def test_the_fast_scan_equals_the_plain_one(bias: bool) -> None:
    assert_fast_equals_plain(CoupledLSTM(3, 5, bias=bias))


def test_gradients_are_right() -> None:
    assert_step_and_scan_have_right_gradients(CoupledLSTM(2, 3))


def memories(cell: Cell, steps: Tensor, cell_state: Tensor) -> Tensor:
    """(time, batch, hidden): the memory after every step of (time, batch, input)."""
    state, found = (torch.zeros_like(cell_state), cell_state), []
    for x in steps:
        _, state = cell(x, state)
        found.append(state[1])
    return torch.stack(found)


@pytest.mark.slow
@pytest.mark.spec(64)
@given(st.integers(0, 2**31), st.floats(0.1, 30))
def test_its_memory_never_leaves_the_range_of_what_was_written(seed: int, scale: float) -> None:
    cell = CoupledLSTM(2, 3).double()
    for place, parameter in enumerate(cell.parameters()):
        parameter.data = scale * drawn(*parameter.shape, seed=seed + place)
    cell_state = 2 * drawn(2, 3, seed=seed)
    found = memories(cell, scale * drawn(9, 2, 2, seed=seed + 7), cell_state)
    assert (found.abs() <= cell_state.abs().clamp(min=1) * (1 + 1e-12)).all()


@pytest.mark.spec(64)
def test_it_cannot_count_while_the_lstm_can() -> None:
    """The same gates, as open as can be: a full candidate at every step adds up in the LSTM and is only
    averaged here.
    """
    steps, start = torch.zeros(25, 1, 1), torch.zeros(1, 1)
    counting, averaging = LSTM(1, 1), CoupledLSTM(1, 1)
    for gate in (0, 1, 2):
        set_gate(counting, gate, 30.0)
    torch.testing.assert_close(memories(counting, steps, start).flatten(), torch.arange(1.0, 26.0))
    for forget in (-30.0, 0.0, 3.0):
        set_gate(averaging, 0, forget)
        set_gate(averaging, 1, 30.0)
        assert memories(averaging, steps, start).max() <= 1


@pytest.mark.parametrize("forget", [30.0, -30.0])
def test_it_keeps_all_or_replaces_all_and_the_fast_scan_too(forget: float) -> None:
    cell = CoupledLSTM(2, 3)
    set_gate(cell, 0, forget)
    cell_state, packing = torch.randn(2, 3), Packing.from_lengths(torch.tensor([5, 3]), time=5)
    _, (_, last) = scan(
        cell, packing.pack(torch.randn(2, 5, 2)), (torch.zeros(2, 3), cell_state), packing.layout()
    )
    assert torch.equal(last, cell_state) if forget > 0 else (last.abs() <= 1).all()

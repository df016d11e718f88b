"""The projected LSTM: its equations by hand, torch's own layer, its sizes, and the fast scan beside the plain
one.
"""

from __future__ import annotations

from math import tanh

import pytest
import torch
from torch import nn

from seqlab.blocks.scan import scan
from seqlab.cells.projected_lstm import ProjectedLSTM
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import assert_fast_equals_plain, drawn, with_drawn_weights
from tests.cells.lstm_family import assert_step_and_scan_have_right_gradients, num_parameters, sigmoid


def test_one_step_follows_the_equations() -> None:
    cell = with_drawn_weights(ProjectedLSTM(1, 2, proj_size=1))
    weights = {name: value.tolist() for name, value in cell.state_dict().items()}
    x, hidden, cell_state = 2.0, -1.0, [3.0, 0.5]
    gates = [
        weights["input"][k][0] * x + weights["recurrent"][k][0] * hidden + weights["bias"][k]
        for k in range(8)
    ]
    kept = [sigmoid(gates[2 + k]) * cell_state[k] + sigmoid(gates[k]) * tanh(gates[4 + k]) for k in range(2)]
    expected = sum(weights["projection"][0][k] * sigmoid(gates[6 + k]) * tanh(kept[k]) for k in range(2))
    state = (torch.tensor([[hidden]], dtype=torch.float64), torch.tensor([cell_state], dtype=torch.float64))
    output, (_, last) = cell(torch.tensor([[x]], dtype=torch.float64), state)
    assert output.item() == pytest.approx(expected)
    assert last[0].tolist() == pytest.approx(kept)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_a_scan_is_torchs_own_layer(bias: bool, reverse: bool, fast: bool) -> None:
    cell = with_drawn_weights(ProjectedLSTM(3, 5, proj_size=2, bias=bias))
    layer = nn.LSTM(3, 5, bias=bias, proj_size=2, batch_first=True).double()
    weights = {"weight_ih_l0": cell.input, "weight_hh_l0": cell.recurrent, "weight_hr_l0": cell.projection}
    layer.load_state_dict(
        weights
        | (
            {"bias_ih_l0": cell.bias, "bias_hh_l0": torch.zeros_like(cell.bias)}
            if cell.bias is not None
            else {}
        )
    )
    packing = Packing.from_lengths(torch.tensor([7, 7]), time=7)
    steps, hidden, cell_state = drawn(2, 7, 3), drawn(2, 2, seed=1), drawn(2, 5, seed=2)
    rows, last = scan(
        cell, packing.pack(steps), (hidden, cell_state), packing.layout(reverse=reverse), fast=fast
    )
    expected, expected_last = layer(steps.flip(1) if reverse else steps, (hidden[None], cell_state[None]))
    torch.testing.assert_close(
        packing.unpack(rows), expected.flip(1) if reverse else expected, rtol=0, atol=1e-12
    )
    torch.testing.assert_close(last, tuple(part[0] for part in expected_last), rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
def test_the_fast_scan_equals_the_plain_one(bias: bool) -> None:
    assert_fast_equals_plain(ProjectedLSTM(3, 5, proj_size=2, bias=bias))


def test_gradients_are_right() -> None:
    assert_step_and_scan_have_right_gradients(ProjectedLSTM(2, 3, proj_size=2))


def test_its_sizes_say_how_wide_the_memory_is_and_how_much_of_it_is_shown() -> None:
    cell = ProjectedLSTM(3, 7, proj_size=2)
    assert (cell.hidden_size, cell.output_size, cell.state_sizes) == (7, 2, (2, 7))
    assert tuple(part.shape for part in cell.zero_state(torch.zeros(4, 3))) == ((4, 2), (4, 7))
    assert num_parameters(cell) == num_parameters(nn.LSTM(3, 7, proj_size=2)) - 28  # torch's second bias


@pytest.mark.parametrize("proj_size", [0, 5, 6])
def test_a_projection_that_is_not_smaller_is_refused(proj_size: int) -> None:
    with pytest.raises(UsageError, match=f"proj_size {proj_size} .*hidden_size 5") as caught:
        ProjectedLSTM(3, 5, proj_size=proj_size)
    assert "from 1 to 4" in str(caught.value)
    assert "lstm" in str(caught.value)

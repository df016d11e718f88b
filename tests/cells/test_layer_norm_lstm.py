"""The layer-normalised LSTM: its equations by hand, and what the norms promise.

Its kernel is held to them in test_native.py.
"""

from __future__ import annotations

from math import sqrt, tanh

import pytest
import torch
from torch import nn

from seqlab.cells.layer_norm_lstm import EPSILON, LayerNormLSTM
from tests.cells.fast_and_plain import drawn, with_drawn_weights
from tests.cells.lstm_family import assert_step_and_scan_have_right_gradients, num_parameters, sigmoid


def norm(values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / len(values) + EPSILON)
    return [(value - mean) / deviation for value in values]


@pytest.mark.parametrize("bias", [True, False])
def test_one_step_follows_the_equations(bias: bool) -> None:
    cell = with_drawn_weights(LayerNormLSTM(2, 2, bias=bias))
    weights = {name: value.tolist() for name, value in cell.state_dict().items()}
    x, hidden, cell_state = [2.0, -0.5], [-1.0, 0.4], [3.0, 0.2]
    from_input = norm([sum(w * value for w, value in zip(row, x, strict=True)) for row in weights["input"]])
    from_hidden = norm(
        [sum(u * value for u, value in zip(row, hidden, strict=True)) for row in weights["recurrent"]]
    )
    gates = [
        weights["input_gain"][k] * from_input[k]
        + weights["recurrent_gain"][k] * from_hidden[k]
        + (weights["bias"][k] if bias else 0.0)
        for k in range(8)
    ]
    kept = [sigmoid(gates[2 + k]) * cell_state[k] + sigmoid(gates[k]) * tanh(gates[4 + k]) for k in range(2)]
    shift = weights["cell_shift"] if bias else [0.0, 0.0]
    shown = [
        sigmoid(gates[6 + k]) * tanh(weights["cell_gain"][k] * norm(kept)[k] + shift[k]) for k in range(2)
    ]

    one = torch.float64
    output, (_, last) = cell(
        torch.tensor([x], dtype=one),
        (torch.tensor([hidden], dtype=one), torch.tensor([cell_state], dtype=one)),
    )
    assert last[0].tolist() == pytest.approx(kept)
    assert output[0].tolist() == pytest.approx(shown)


def test_one_step_is_built_from_torchs_own_layer_norms() -> None:
    cell = with_drawn_weights(LayerNormLSTM(3, 5))
    sums, cell_norm = nn.LayerNorm(20).double(), nn.LayerNorm(5).double()
    cell_norm.load_state_dict({"weight": cell.cell_gain, "bias": cell.cell_shift})
    x, hidden, cell_state = drawn(2, 3), drawn(2, 5, seed=1), drawn(2, 5, seed=2)
    gates = (
        cell.input_gain * sums(x @ cell.input.T)
        + cell.recurrent_gain * sums(hidden @ cell.recurrent.T)
        + cell.bias
    )
    input_gate, forget_gate, candidate, output_gate = gates.chunk(4, dim=1)
    kept = forget_gate.sigmoid() * cell_state + input_gate.sigmoid() * candidate.tanh()
    output, (_, last) = cell(x, (hidden, cell_state))
    torch.testing.assert_close(last, kept, rtol=0, atol=1e-13)
    torch.testing.assert_close(output, output_gate.sigmoid() * cell_norm(kept).tanh(), rtol=0, atol=1e-13)


def test_the_scale_of_its_inputs_and_matrices_does_not_matter() -> None:
    """What the paper promises: re-scaling a weight matrix, or one input, changes nothing but what ε lets
    through.
    """
    cell = with_drawn_weights(LayerNormLSTM(3, 5))
    x, state = 10 * drawn(2, 3), (10 * drawn(2, 5, seed=1), drawn(2, 5, seed=2))
    expected = cell(x, state)[0]
    torch.testing.assert_close(cell(1000 * x, state)[0], expected, rtol=0, atol=1e-5)
    cell.recurrent.data *= 1000
    cell.input.data *= 1000
    torch.testing.assert_close(cell(x, state)[0], expected, rtol=0, atol=1e-5)


def test_gradients_are_right() -> None:
    assert_step_and_scan_have_right_gradients(LayerNormLSTM(2, 3))


def test_gains_start_at_one_shifts_at_zero_and_the_forget_gate_open() -> None:
    cell = LayerNormLSTM(3, 5, forget_bias=1.5)
    assert all((gain == 1).all() for gain in (cell.input_gain, cell.recurrent_gain, cell.cell_gain))
    assert (cell.get_parameter("cell_shift") == 0).all()
    assert (cell.get_parameter("bias")[5:10] == 1.5).all()
    assert num_parameters(cell) == 4 * 5 * (3 + 5 + 1) + 2 * 4 * 5 + 2 * 5
    assert num_parameters(LayerNormLSTM(3, 5, bias=False)) == 4 * 5 * (3 + 5) + 2 * 4 * 5 + 5

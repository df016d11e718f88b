"""How open gates are, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqlab.blocks.recurrent import build_stack
from seqlab.cells.gru import GRU
from seqlab.core.errors import UsageError
from seqlab.inspection.gates import gate_statistics
from seqlab.inspection.unroll import unroll


def lstm_with_biases(input_gate: float, forget: float, output_gate: float) -> nn.LSTM:
    """Gates that see nothing but their bias."""
    layer = nn.LSTM(2, 3)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.bias_ih_l0.copy_(torch.tensor([input_gate, forget, 0.0, output_gate]).repeat_interleave(3))
    return layer


def test_shares_means_and_exact_values_are_those_of_known_gates() -> None:
    use = {
        line.gate: line
        for line in gate_statistics(unroll(lstm_with_biases(-3.0, 20.0, 0.0), torch.ones(2, 5, 2)))
    }
    assert list(use) == ["input", "forget", "output"]  # the candidate is no gate
    assert use["input"].mean == pytest.approx(1 / (1 + np.exp(3.0)), rel=1e-6)
    assert (use["input"].closed_share, use["input"].open_share) == (1.0, 0.0)
    assert (use["output"].mean, use["output"].closed_share, use["output"].open_share) == (0.5, 0.0, 0.0)
    assert (use["forget"].open_share, use["forget"].num_one, use["forget"].num_values) == (1.0, 30, 30)
    np.testing.assert_allclose(use["input"].over_time, [use["input"].mean] * 5)


def test_a_gate_is_exactly_one_in_float32_though_not_in_float64_and_exactly_zero_far_below() -> None:
    layer = lstm_with_biases(-200.0, 20.0, -20.0).double()
    use = {
        line.gate: line for line in gate_statistics(unroll(layer, torch.ones(1, 4, 2, dtype=torch.float64)))
    }
    assert use["forget"].mean < 1
    assert use["forget"].num_one == 12
    assert use["input"].num_zero == 12
    assert use["output"].num_zero == 0  # 2e-9 is a number in float32


def test_padding_is_not_counted_and_every_layer_and_direction_is() -> None:
    torch.manual_seed(0)
    stack = build_stack(2, GRU, [3, 4], bidirectional=True).double()
    steps = torch.randn(2, 5, 2, dtype=torch.float64)
    unrolled = unroll(stack, steps, [5, 2])
    lines = gate_statistics(unrolled)
    assert [(line.layer, line.reverse, line.gate) for line in lines] == [
        (layer, reverse, gate)
        for layer in (0, 1)
        for reverse in (False, True)
        for gate in ("reset", "update")
    ]
    real = [
        unrolled.traces[0].gates[time]["reset"][row]
        for row, length in enumerate((5, 2))
        for time in range(length)
    ]
    values = torch.stack(real).detach().numpy()
    assert lines[0].num_values == values.size == 21
    assert lines[0].mean == pytest.approx(values.mean())
    alone = gate_statistics(unroll(stack, steps[:1]))
    np.testing.assert_allclose(lines[0].over_time[2:], alone[0].over_time[2:])


def test_a_network_without_gates_says_so() -> None:
    with pytest.raises(UsageError, match="no gates"):
        gate_statistics(unroll(nn.RNN(2, 3), torch.ones(1, 2, 2)))

"""The same small network at every step."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from torch import nn

from seqlab.blocks.feed_forward import FeedForward


@pytest.mark.spec(155)
def test_equal_steps_give_equal_outputs_and_only_the_width_of_a_step_is_touched() -> None:
    torch.manual_seed(0)
    outputs = FeedForward(4, inner_size=8, activation="relu", dropout=0.0)(torch.ones(2, 3, 4))
    assert outputs.shape == (2, 3, 4)
    assert torch.unique(outputs.reshape(6, 4), dim=0).shape == (1, 4)


@pytest.mark.spec(155)
def test_it_is_two_convolutions_with_kernel_one() -> None:
    torch.manual_seed(1)
    layer = FeedForward(4, inner_size=7, activation="relu", dropout=0.0).double()
    first, second = nn.Conv1d(4, 7, 1).double(), nn.Conv1d(7, 4, 1).double()
    for conv, linear in ((first, layer.expand), (second, layer.contract)):
        conv.load_state_dict({"weight": linear.weight.unsqueeze(-1), "bias": linear.bias})
    steps = torch.randn(2, 5, 4, dtype=torch.float64)
    expected = second(torch.relu(first(steps.transpose(1, 2)))).transpose(1, 2)
    torch.testing.assert_close(layer(steps), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_it_follows_the_equation(activation: Literal["relu", "gelu"]) -> None:
    layer = FeedForward(1, inner_size=2, activation=activation, dropout=0.0).double()
    layer.load_state_dict({
        "expand.weight": torch.tensor([[0.5], [-1.5]]), "expand.bias": torch.tensor([0.2, 0.3]),
        "contract.weight": torch.tensor([[2.0, -3.0]]), "contract.bias": torch.tensor([0.7]),
    })  # fmt: skip

    def activate(x: float) -> float:
        return max(0.0, x) if activation == "relu" else 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    for x in (-1.25, 0.5, 2.0):
        expected = 2.0 * activate(0.5 * x + 0.2) - 3.0 * activate(-1.5 * x + 0.3) + 0.7
        assert layer(torch.tensor([[[x]]], dtype=torch.float64)).item() == pytest.approx(expected, abs=1e-7)


def test_dropout_falls_on_the_inner_values_while_training() -> None:
    torch.manual_seed(2)
    layer = FeedForward(3, inner_size=500, activation="relu", dropout=0.5)
    steps = torch.randn(2, 4, 3)
    assert not torch.equal(layer(steps), layer(steps))
    assert torch.equal(layer.eval()(steps), layer(steps))

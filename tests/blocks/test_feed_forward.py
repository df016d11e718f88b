"""The same small network at every step."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from seqlab.blocks.feed_forward import FeedForward, FeedForwardActivation, GatedFeedForward

PLAIN: dict[FeedForwardActivation, Callable[[float], float]] = {
    "relu": lambda x: max(0.0, x),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + math.exp(-x)),
}
every_activation = pytest.mark.parametrize("activation", PLAIN)
tensor = partial(torch.tensor, dtype=torch.float64)
both_kinds = pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])


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


@every_activation
def test_it_follows_the_equation(activation: FeedForwardActivation) -> None:
    layer = FeedForward(1, inner_size=2, activation=activation, dropout=0.0).double()
    layer.load_state_dict({
        "expand.weight": tensor([[0.5], [-1.5]]), "expand.bias": tensor([0.2, 0.3]),
        "contract.weight": tensor([[2.0, -3.0]]), "contract.bias": tensor([0.7]),
    })  # fmt: skip
    activate = PLAIN[activation]
    for x in (-1.25, 0.5, 2.0):
        expected = 2.0 * activate(0.5 * x + 0.2) - 3.0 * activate(-1.5 * x + 0.3) + 0.7
        assert layer(tensor([[[x]]])).item() == pytest.approx(expected, abs=1e-12)


@every_activation
def test_a_gated_one_follows_the_equation(activation: FeedForwardActivation) -> None:
    layer = GatedFeedForward(1, inner_size=2, activation=activation, dropout=0.0).double()
    layer.load_state_dict({
        "expand.weight": tensor([[0.5], [-1.5], [0.9], [1.1]]), "expand.bias": tensor([0.2, 0.3, -0.4, 0.6]),
        "contract.weight": tensor([[2.0, -3.0]]), "contract.bias": tensor([0.7]),
    })  # fmt: skip
    activate = PLAIN[activation]
    for x in (-1.25, 0.5, 2.0):
        gates = [activate(0.5 * x + 0.2), activate(-1.5 * x + 0.3)]
        expected = 2.0 * gates[0] * (0.9 * x - 0.4) - 3.0 * gates[1] * (1.1 * x + 0.6) + 0.7
        assert layer(tensor([[[x]]])).item() == pytest.approx(expected, abs=1e-12)


def test_silu_with_a_gate_is_the_feed_forward_network_of_llama() -> None:
    torch.manual_seed(4)
    twin = LlamaMLP(
        LlamaConfig(hidden_size=6, num_attention_heads=2, intermediate_size=10, hidden_act="silu")
    ).double()
    layer = GatedFeedForward(6, inner_size=10, activation="silu", dropout=0.0, bias=False).double()
    gate_and_inner = torch.cat([twin.gate_proj.weight, twin.up_proj.weight])
    layer.load_state_dict({"expand.weight": gate_and_inner, "contract.weight": twin.down_proj.weight})
    steps = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True)
    found, expected = layer(steps), twin(steps)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    ours, theirs = (torch.autograd.grad(out.square().sum(), steps) for out in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@both_kinds
@every_activation
@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 4, 3), (5, 3)], ids=str)
def test_gradients_are_right_for_one_step_and_for_many(
    kind: type[FeedForward | GatedFeedForward], activation: FeedForwardActivation, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(5)
    layer = kind(3, inner_size=5, activation=activation, dropout=0.0).double()
    steps = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    kept = steps.detach().clone()
    assert torch.autograd.gradcheck(layer, steps)
    assert torch.equal(steps, kept)  # relu overwrites its own values only


@both_kinds
@pytest.mark.parametrize("bias", [True, False])
def test_without_bias_there_is_none_and_zero_stays_zero(
    kind: type[FeedForward | GatedFeedForward], bias: bool
) -> None:
    layer = kind(3, inner_size=5, activation="silu", dropout=0.0, bias=bias)
    assert [name for name, _ in layer.named_parameters() if name.endswith("bias")] == (
        ["expand.bias", "contract.bias"] if bias else []
    )
    if not bias:
        assert not layer(torch.zeros(2, 4, 3)).any()


@both_kinds
def test_dropout_falls_on_the_inner_values_while_training(kind: type[FeedForward | GatedFeedForward]) -> None:
    torch.manual_seed(2)
    layer = kind(3, inner_size=500, activation="relu", dropout=0.5)
    assert layer.contract.weight.shape == (3, 500)
    steps = torch.randn(2, 4, 3)
    assert not torch.equal(layer(steps), layer(steps))
    assert torch.equal(layer.eval()(steps), layer(steps))

"""Transformer layers against torch.nn.TransformerEncoderLayer with copied weights, and what they promise about steps."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.blocks.feed_forward import FeedForward
from seqlab.blocks.transformer_layer import PostNormLayer, PreNormLayer, TransformerLayer

SIZE, HEADS, INNER = 6, 2, 10
KINDS = [PostNormLayer, PreNormLayer]
LENGTHS = torch.tensor([5, 2, 4])


def build(kind: type[TransformerLayer], *, activation: Literal["relu", "gelu"] = "relu", eps: float = 1e-5) -> TransformerLayer:
    torch.manual_seed(3)
    attention = MultiHeadSelfAttention(SIZE, num_heads=HEADS)
    feed_forward = FeedForward(SIZE, inner_size=INNER, activation=activation, dropout=0.0)
    layer = kind(attention, feed_forward, hidden_size=SIZE, dropout=0.0, eps=eps).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, mean=0.1, std=0.6)
    return layer


def twin_of(layer: TransformerLayer, *, norm_first: bool, activation: str, eps: float) -> nn.TransformerEncoderLayer:
    activate = F.relu if activation == "relu" else lambda x: F.gelu(x, approximate="tanh")
    twin = nn.TransformerEncoderLayer(
        SIZE, HEADS, INNER, dropout=0.0, activation=activate, layer_norm_eps=eps, batch_first=True, norm_first=norm_first
    ).double()
    parts = [
        (twin.self_attn.out_proj, layer.attention.output),
        (twin.linear1, layer.feed_forward.expand),
        (twin.linear2, layer.feed_forward.contract),
        (twin.norm1, layer.attention_norm),
        (twin.norm2, layer.feed_forward_norm),
    ]
    for theirs, ours in parts:
        theirs.load_state_dict(ours.state_dict())
    with torch.no_grad():
        twin.self_attn.in_proj_weight.copy_(layer.attention.qkv.weight)
        twin.self_attn.in_proj_bias.copy_(layer.attention.qkv.bias)
    return twin


def random_steps() -> Tensor:
    return torch.randn(3, 5, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(8))


@pytest.mark.spec(166)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_equals_torch_with_the_same_weights(kind: type[TransformerLayer], activation: Literal["relu", "gelu"], causal: bool, padded: bool) -> None:
    eps = 1e-3  # large enough to be seen
    layer = build(kind, activation=activation, eps=eps)
    twin = twin_of(layer, norm_first=kind is PreNormLayer, activation=activation, eps=eps)
    steps = random_steps().requires_grad_()
    is_token = torch.arange(5) < LENGTHS[:, None] if padded else torch.ones(3, 5, dtype=torch.bool)
    forbidden = torch.ones(5, 5, dtype=torch.bool).triu(1) if causal else None
    expected = twin(steps, src_mask=forbidden, src_key_padding_mask=~is_token)
    found, _ = layer(steps, may_attend=is_token.unsqueeze(1), causal=causal, cache=None)
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-10)

    weights = torch.randn_like(found) * is_token.unsqueeze(-1)
    torch.testing.assert_close(*(torch.autograd.grad((out * weights).sum(), steps)[0] for out in (found, expected)), rtol=0, atol=1e-10)


@pytest.mark.spec(165)
@pytest.mark.parametrize("kind", KINDS)
def test_steps_meet_in_attention_and_nowhere_else(kind: type[TransformerLayer]) -> None:
    layer = build(kind)
    steps = random_steps()
    changed = steps.clone()
    changed[:, 2] += torch.linspace(1, 3, SIZE, dtype=torch.float64)
    others = torch.arange(5) != 2

    before, after = (layer(x, may_attend=None, causal=False, cache=None)[0] for x in (steps, changed))
    assert ((before - after)[:, others].abs().amax(dim=-1) > 1e-6).all()

    nn.init.zeros_(layer.attention.qkv.weight[2 * SIZE :].data)  # the values are what one step tells another
    before, after = (layer(x, may_attend=None, causal=False, cache=None)[0] for x in (steps, changed))
    torch.testing.assert_close(before[:, others], after[:, others], rtol=0, atol=1e-12)
    assert ((before - after)[:, 2].abs().amax(dim=-1) > 1e-3).all()


@pytest.mark.spec(164)
@pytest.mark.parametrize("norm_name", ["attention_norm", "feed_forward_norm"])
def test_layer_norm_takes_one_mean_and_one_variance_per_token(norm_name: str) -> None:
    norm = getattr(build(PostNormLayer, eps=0.01), norm_name)
    steps = random_steps()
    gain, shift = norm.weight.tolist(), norm.bias.tolist()
    for row in range(3):
        for t in range(5):
            values = steps[row, t].tolist()
            mean = sum(values) / SIZE
            variance = sum((value - mean) ** 2 for value in values) / SIZE
            expected = [(value - mean) / (variance + 0.01) ** 0.5 * g + b for value, g, b in zip(values, gain, shift, strict=True)]
            assert norm(steps)[row, t].tolist() == pytest.approx(expected, abs=1e-12)
            assert torch.allclose(norm(steps[row : row + 1, t : t + 1])[0, 0], norm(steps)[row, t], rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_falls_on_the_output_of_both_sub_layers(kind: type[TransformerLayer]) -> None:
    layer = build(kind)
    seen: list[Tensor] = []
    layer.dropout.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[0]))
    attended: list[Tensor] = []
    for part in (layer.attention, layer.feed_forward):
        part.register_forward_hook(lambda _module, _inputs, output: attended.append(output[0] if isinstance(output, tuple) else output))
    layer(random_steps(), may_attend=None, causal=False, cache=None)
    assert [torch.equal(a, b) for a, b in zip(seen, attended, strict=True)] == [True, True]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_right(kind: type[TransformerLayer]) -> None:
    layer = build(kind, activation="gelu")
    assert torch.autograd.gradcheck(lambda x: layer(x, may_attend=None, causal=True, cache=None)[0], random_steps()[:2, :3].requires_grad_())

"""Transformer layers against torch.nn.TransformerEncoderLayer and DecoderLayer with copied weights, and what
they promise about steps.
"""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.masks import AttentionMask, causal_mask
from seqlab.attention.multi_head import MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.blocks.feed_forward import FeedForward, FeedForwardActivation
from seqlab.blocks.residual import NormalizedSkip, PostNorm, PreNorm, Residual, ReZero, rezero_scale
from seqlab.blocks.transformer_layer import DecoderLayer, EncoderLayer
from tests.blocks.torch_twin import as_torch_names

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

SIZE, HEADS, INNER = 6, 2, 10
Norm = Literal["post", "pre", "lecture", "rezero"]
NORMS: list[Norm] = ["post", "pre", "lecture", "rezero"]
LENGTHS = torch.tensor([5, 2, 4])
SOURCE_LENGTHS = torch.tensor([3, 7, 1])


def residual(norm: Norm, *, eps: float = 1e-5, first: bool = False, bias: bool = True) -> Residual:
    if norm == "rezero":
        return ReZero(rezero_scale(), dropout=0.0)
    kind = PostNorm if norm == "post" else NormalizedSkip if norm == "lecture" and first else PreNorm
    return kind(nn.LayerNorm(SIZE, eps=eps, bias=bias), dropout=0.0)


def randomised(layer: nn.Module) -> None:
    """Every parameter random, so that none hides behind a zero or a one."""
    for parameter in layer.double().parameters():
        nn.init.normal_(parameter, mean=0.1, std=0.6)


def build(
    norm: Norm, *, activation: FeedForwardActivation = "relu", eps: float = 1e-5, bias: bool = True
) -> EncoderLayer:
    torch.manual_seed(3)
    layer = EncoderLayer(
        MultiHeadSelfAttention(SIZE, num_heads=HEADS, qkv_bias=bias, output_bias=bias),
        FeedForward(SIZE, inner_size=INNER, activation=activation, dropout=0.0, bias=bias),
        attention_residual=residual(norm, eps=eps, first=True, bias=bias),
        feed_forward_residual=residual(norm, eps=eps, bias=bias),
    )
    randomised(layer)
    return layer


def build_decoder(
    norm: Norm, *, activation: FeedForwardActivation = "relu", eps: float = 1e-5, bias: bool = True
) -> DecoderLayer:
    torch.manual_seed(4)
    layer = DecoderLayer(
        MultiHeadSelfAttention(SIZE, num_heads=HEADS, qkv_bias=bias, output_bias=bias),
        MultiHeadCrossAttention(SIZE, num_heads=HEADS, qkv_bias=bias, output_bias=bias),
        FeedForward(SIZE, inner_size=INNER, activation=activation, dropout=0.0, bias=bias),
        attention_residual=residual(norm, eps=eps, first=True, bias=bias),
        cross_residual=residual(norm, eps=eps, bias=bias),
        feed_forward_residual=residual(norm, eps=eps, bias=bias),
    )
    randomised(layer)
    return layer


def twin_of(
    layer: EncoderLayer | DecoderLayer,
    *,
    norm: Norm,
    activation: FeedForwardActivation,
    eps: float,
    bias: bool,
) -> nn.Module:
    activate = {
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu,
    }[activation]
    kind = nn.TransformerDecoderLayer if isinstance(layer, DecoderLayer) else nn.TransformerEncoderLayer
    twin = kind(
        SIZE,
        HEADS,
        INNER,
        dropout=0.0,
        activation=activate,
        layer_norm_eps=eps,
        batch_first=True,
        norm_first=norm == "pre",
        bias=bias,
    ).double()
    twin.load_state_dict(as_torch_names(layer.state_dict()))
    return twin


def random_steps(time: int = 5, *, seed: int = 8) -> Tensor:
    return torch.randn(3, time, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def tokens_of(lengths: Tensor, *, padded: bool) -> Tensor:
    time = int(lengths.max())
    return (
        torch.arange(time) < lengths[:, None] if padded else torch.ones(len(lengths), time, dtype=torch.bool)
    )


def sight(is_token: Tensor, *, causal: bool) -> AttentionMask:
    time = is_token.shape[1]
    return AttentionMask(
        is_token[:, None, None, :]
        & (causal_mask(time, time) if causal else torch.ones(time, time, dtype=torch.bool))
    )


def assert_same(found: Tensor, expected: Tensor, is_token: Tensor, *inputs: Tensor) -> None:
    """Equal at the real steps, and equal gradients of the inputs."""
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-10)
    weights = torch.randn_like(found) * is_token.unsqueeze(-1)
    ours, theirs = (torch.autograd.grad((out * weights).sum(), inputs) for out in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


@pytest.mark.spec(156, 166)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_it_equals_torch_with_the_same_weights(
    norm: Norm, activation: FeedForwardActivation, bias: bool, causal: bool, padded: bool
) -> None:
    eps = 1e-3  # large enough to be seen
    layer = build(norm, activation=activation, eps=eps, bias=bias)
    twin = twin_of(layer, norm=norm, activation=activation, eps=eps, bias=bias)
    steps, is_token = random_steps().requires_grad_(), tokens_of(LENGTHS, padded=padded)
    forbidden = ~causal_mask(5, 5) if causal else None
    expected = twin(steps, src_mask=forbidden, src_key_padding_mask=~is_token)
    found, _ = layer(steps, mask=sight(is_token, causal=causal))
    assert_same(found, expected, is_token, steps)


@pytest.mark.spec(161)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_decoder_layer_equals_torch_with_the_same_weights(
    norm: Norm, activation: FeedForwardActivation, bias: bool, causal: bool, padded: bool
) -> None:
    eps = 1e-3
    layer = build_decoder(norm, activation=activation, eps=eps, bias=bias)
    twin = twin_of(layer, norm=norm, activation=activation, eps=eps, bias=bias)
    steps, source = random_steps().requires_grad_(), random_steps(7, seed=2).requires_grad_()
    is_token, is_source = tokens_of(LENGTHS, padded=padded), tokens_of(SOURCE_LENGTHS, padded=padded)
    expected = twin(
        steps,
        source,
        tgt_mask=~causal_mask(5, 5) if causal else None,
        tgt_key_padding_mask=~is_token,
        memory_key_padding_mask=~is_source,
    )
    read = layer.cross_attention.project_source(source)
    found, _ = layer(
        steps,
        read,
        mask=sight(is_token, causal=causal),
        source_mask=AttentionMask(is_source[:, None, None, :]),
    )
    assert_same(found, expected, is_token, steps, source)


@pytest.mark.spec(165)
@pytest.mark.parametrize("norm", NORMS)
def test_steps_meet_in_attention_and_nowhere_else(norm: Norm) -> None:
    layer = build(norm)
    steps = random_steps()
    changed = steps.clone()
    changed[:, 2] += torch.linspace(1, 3, SIZE, dtype=torch.float64)
    others = torch.arange(5) != 2

    before, after = (layer(x)[0] for x in (steps, changed))
    assert ((before - after)[:, others].abs().amax(dim=-1) > 1e-6).all()

    nn.init.zeros_(layer.attention.qkv.weight[2 * SIZE :].data)  # the values are what one step tells another
    before, after = (layer(x)[0] for x in (steps, changed))
    torch.testing.assert_close(before[:, others], after[:, others], rtol=0, atol=1e-12)
    assert ((before - after)[:, 2].abs().amax(dim=-1) > 1e-3).all()


@pytest.mark.spec(164)
@pytest.mark.parametrize("name", ["attention_residual", "feed_forward_residual"])
def test_layer_norm_takes_one_mean_and_one_variance_per_token(name: str) -> None:
    norm = getattr(build("post", eps=0.01), name).norm
    steps = random_steps()
    gain, shift = norm.weight.tolist(), norm.bias.tolist()
    for row in range(3):
        for t in range(5):
            values = steps[row, t].tolist()
            mean = sum(values) / SIZE
            variance = sum((value - mean) ** 2 for value in values) / SIZE
            expected = [
                (value - mean) / (variance + 0.01) ** 0.5 * g + b
                for value, g, b in zip(values, gain, shift, strict=True)
            ]
            assert norm(steps)[row, t].tolist() == pytest.approx(expected, abs=1e-12)
            assert torch.allclose(
                norm(steps[row : row + 1, t : t + 1])[0, 0], norm(steps)[row, t], rtol=0, atol=1e-15
            )


@pytest.mark.parametrize("norm", NORMS)
def test_dropout_falls_on_the_output_of_every_sub_layer(norm: Norm) -> None:
    layer = build_decoder(norm)
    seen: list[Tensor] = []
    for path in (layer.attention_residual, layer.cross_residual, layer.feed_forward_residual):
        path.dropout.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[0]))
    attended: list[Tensor] = []
    for part in (layer.attention, layer.cross_attention, layer.feed_forward):
        part.register_forward_hook(
            lambda _module, _inputs, output: attended.append(
                output[0] if isinstance(output, tuple) else output
            )
        )
    layer(random_steps(), layer.cross_attention.project_source(random_steps(4)))
    assert [torch.equal(a, b) for a, b in zip(seen, attended, strict=True)] == [True, True, True]


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_are_right(norm: Norm) -> None:
    layer = build(norm, activation="gelu")
    assert torch.autograd.gradcheck(
        lambda x: layer(x, mask=AttentionMask(causal=True))[0], random_steps()[:2, :3].requires_grad_()
    )


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_of_a_decoder_layer_are_right(norm: Norm) -> None:
    layer = build_decoder(norm, activation="gelu")
    steps, source = random_steps()[:2, :3].requires_grad_(), random_steps(4, seed=6)[:2].requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, y: layer(x, layer.cross_attention.project_source(y), mask=AttentionMask(causal=True))[0],
        (steps, source),
    )

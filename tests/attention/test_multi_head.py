"""Multi-head self-attention against torch.nn.MultiheadAttention and against its equations in plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.core.errors import RecipeError

LENGTHS = torch.tensor([7, 4, 1])


def randomised(module: nn.Module) -> nn.Module:
    """Every parameter random, so that none can hide behind a zero."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double()


def attention_and_twin(size: int, heads: int, *, qkv_bias: bool) -> tuple[MultiHeadSelfAttention, nn.MultiheadAttention]:
    """Our layer and torch's, with the same weights."""
    torch.manual_seed(2)
    ours = MultiHeadSelfAttention(size, num_heads=heads, qkv_bias=qkv_bias)
    randomised(ours)
    twin = nn.MultiheadAttention(size, heads, batch_first=True).double()
    with torch.no_grad():
        twin.in_proj_weight.copy_(ours.qkv.weight)
        twin.in_proj_bias.copy_(ours.qkv.bias if qkv_bias else torch.zeros(3 * size))
        twin.out_proj.load_state_dict(ours.output.state_dict())
    return ours, twin


def steps(size: int, *, batch: int = 3, time: int = 7) -> Tensor:
    return torch.randn(batch, time, size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("qkv_bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(("size", "heads"), [(6, 2), (5, 1), (12, 4)])
@pytest.mark.spec(147)
def test_it_equals_torch_with_the_same_weights(size: int, heads: int, padded: bool, causal: bool, qkv_bias: bool) -> None:
    ours, twin = attention_and_twin(size, heads, qkv_bias=qkv_bias)
    inputs = steps(size).requires_grad_()
    is_token = torch.arange(7) < LENGTHS[:, None] if padded else torch.ones(3, 7, dtype=torch.bool)
    forbidden = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    expected, _ = twin(inputs, inputs, inputs, key_padding_mask=~is_token, attn_mask=forbidden)
    found, _ = ours(inputs, may_attend=is_token.unsqueeze(1) if padded else None, causal=causal)
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-10)

    weights = torch.randn_like(expected) * is_token.unsqueeze(-1)
    torch.testing.assert_close(*(torch.autograd.grad((out * weights).sum(), inputs)[0] for out in (found, expected)), rtol=0, atol=1e-10)


def test_it_follows_the_equations_number_by_number() -> None:
    size, heads, time = 6, 2, 4
    layer, _ = attention_and_twin(size, heads, qkv_bias=True)
    inputs = steps(size, batch=1, time=time)
    projected = (inputs[0] @ layer.qkv.weight.T + layer.qkv.bias).tolist()  # (time, 3 * size)
    head_size = size // heads
    joined = []
    for t in range(time):
        row = []
        for head in range(heads):
            part = slice(head * head_size, (head + 1) * head_size)
            query = projected[t][part]
            keys = [step[size : 2 * size][part] for step in projected]
            values = [step[2 * size :][part] for step in projected]
            scores = [math.exp(sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(head_size)) for key in keys]
            row += [sum(score * value[j] for score, value in zip(scores, values, strict=True)) / sum(scores) for j in range(head_size)]
        joined.append(row)
    expected = torch.tensor(joined, dtype=torch.float64) @ layer.output.weight.T + layer.output.bias
    torch.testing.assert_close(layer(inputs)[0][0], expected, rtol=0, atol=1e-12)


@pytest.mark.spec(141)
def test_one_stacked_projection_equals_three() -> None:
    size, heads = 6, 3
    layer, _ = attention_and_twin(size, heads, qkv_bias=True)
    inputs = steps(size)
    weights, biases = layer.qkv.weight.chunk(3), layer.qkv.bias.chunk(3)
    q, k, v = (
        nn.functional.linear(inputs, w, b).view(3, 7, heads, size // heads).transpose(1, 2)  # (batch, heads, time, head)
        for w, b in zip(weights, biases, strict=True)
    )
    alignment = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(size // heads), dim=-1)
    expected = layer.output((alignment @ v).transpose(1, 2).reshape(3, 7, size))
    torch.testing.assert_close(layer(inputs)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.spec(147)
def test_a_causal_mask_and_a_padding_mask_hold_together() -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    inputs = steps(6).requires_grad_()
    is_token = torch.arange(7) < LENGTHS[:, None]
    outputs, _ = layer(inputs, may_attend=is_token.unsqueeze(1), causal=True)
    for t in range(7):
        (reach,) = torch.autograd.grad(outputs[:, t].square().sum(), inputs, retain_graph=True)
        seen = reach.abs().sum(dim=-1) > 0  # (batch, time)
        asking = is_token[:, t]
        assert torch.equal(seen[asking], ((torch.arange(7) <= t) & is_token)[asking])


@pytest.mark.parametrize("pieces", [[1] * 7, [3, 1, 3], [2, 5], [7]])
def test_steps_in_pieces_with_the_cache_equal_one_causal_run(pieces: list[int]) -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    inputs = steps(6)
    whole, (keys, values) = layer(inputs, causal=True)
    cache, found = None, []
    for piece in inputs.split(pieces, dim=1):
        outputs, cache = layer(piece, causal=True, cache=cache)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    assert cache is not None
    torch.testing.assert_close(cache, (keys, values), rtol=0, atol=1e-12)


def test_nobody_to_look_at_gives_no_nan() -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    outputs, _ = layer(steps(6), may_attend=torch.zeros(3, 1, 7, dtype=torch.bool))
    assert torch.isfinite(outputs).all()


def test_dropout_on_the_alignment_acts_in_training_only() -> None:
    layer = MultiHeadSelfAttention(6, num_heads=2, dropout=0.5).double()
    plain = MultiHeadSelfAttention(6, num_heads=2).double()
    plain.load_state_dict(layer.state_dict())
    inputs = steps(6)
    assert not torch.equal(layer(inputs)[0], layer(inputs)[0])
    assert torch.equal(layer.eval()(inputs)[0], plain(inputs)[0])


@pytest.mark.spec(163)
def test_a_size_that_the_heads_cannot_share_is_refused_with_numbers_that_fit() -> None:
    with pytest.raises(RecipeError) as caught:
        MultiHeadSelfAttention(512, num_heads=6)
    assert str(caught.value) == "model.heads: hidden_size 512 cannot be divided over 6 heads.\n  Numbers of heads that fit: 1, 2, 4, 8."


def test_a_mask_of_another_shape_is_refused_while_testing() -> None:
    layer = MultiHeadSelfAttention(6, num_heads=2).double()
    for wrong in ((3, 7), (2, 1, 7), (3, 5, 7)):
        with pytest.raises(Exception, match="may_attend"):
            layer(steps(6), may_attend=torch.ones(*wrong, dtype=torch.bool))


def test_gradients_are_right() -> None:
    layer, _ = attention_and_twin(4, 2, qkv_bias=True)
    inputs = steps(4, batch=2, time=3).requires_grad_()
    may_attend = torch.tensor([[[True, True, True]], [[True, False, False]]])
    assert torch.autograd.gradcheck(lambda x: layer(x, may_attend=may_attend, causal=True)[0], inputs)

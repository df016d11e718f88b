"""Multi-head attention against torch.nn.MultiheadAttention and against its equations in plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from seqlab.attention.kv_cache import KVCache
from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments
from seqlab.core.errors import ArgumentError, UsageError

LENGTHS = torch.tensor([7, 4, 1])


def randomised(module: nn.Module) -> nn.Module:
    """Every parameter random, so that none can hide behind a zero."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double()


def attention_and_twin(
    size: int, heads: int, *, qkv_bias: bool
) -> tuple[MultiHeadSelfAttention, nn.MultiheadAttention]:
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


def padding(is_token: Tensor) -> Tensor:
    """True where a key is real, as a mask for all heads and queries."""
    return is_token[:, None, None, :]


def steps(size: int, *, batch: int = 3, time: int = 7) -> Tensor:
    return torch.randn(batch, time, size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("qkv_bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(("size", "heads"), [(6, 2), (5, 1), (12, 4)])
@pytest.mark.spec(147)
def test_it_equals_torch_with_the_same_weights(
    size: int, heads: int, padded: bool, causal: bool, qkv_bias: bool
) -> None:
    ours, twin = attention_and_twin(size, heads, qkv_bias=qkv_bias)
    inputs = steps(size).requires_grad_()
    is_token = torch.arange(7) < LENGTHS[:, None] if padded else torch.ones(3, 7, dtype=torch.bool)
    forbidden = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    expected, _ = twin(inputs, inputs, inputs, key_padding_mask=~is_token, attn_mask=forbidden)
    found, _ = ours(inputs, mask=AttentionMask(padding(is_token) if padded else None, causal=causal))
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-10)

    weights = torch.randn_like(expected) * is_token.unsqueeze(-1)
    torch.testing.assert_close(
        *(torch.autograd.grad((out * weights).sum(), inputs)[0] for out in (found, expected)),
        rtol=0,
        atol=1e-10,
    )


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
            scores = [
                math.exp(sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(head_size))
                for key in keys
            ]
            row += [
                sum(score * value[j] for score, value in zip(scores, values, strict=True)) / sum(scores)
                for j in range(head_size)
            ]
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
        nn.functional.linear(inputs, w, b)
        .view(3, 7, heads, size // heads)
        .transpose(1, 2)  # (batch, heads, time, head)
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
    outputs, _ = layer(inputs, mask=AttentionMask(padding(is_token), causal=True))
    for t in range(7):
        (reach,) = torch.autograd.grad(outputs[:, t].square().sum(), inputs, retain_graph=True)
        seen = reach.abs().sum(dim=-1) > 0  # (batch, time)
        asking = is_token[:, t]
        assert torch.equal(seen[asking], ((torch.arange(7) <= t) & is_token)[asking])


@pytest.mark.parametrize("pieces", [[1] * 7, [3, 1, 3], [2, 5], [7]])
def test_steps_in_pieces_with_the_cache_equal_one_causal_run(pieces: list[int]) -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    inputs = steps(6)
    whole, whole_past = layer(inputs, mask=AttentionMask(causal=True))
    cache: KVCache | None = None
    found = []
    for piece in inputs.split(pieces, dim=1):
        outputs, cache = layer(piece, mask=AttentionMask(causal=True), cache=cache)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    assert cache is not None
    torch.testing.assert_close(
        (cache.keys, cache.values), (whole_past.keys, whole_past.values), rtol=0, atol=1e-12
    )


def test_nobody_to_look_at_gives_zeros_and_no_gradient() -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    inputs = steps(6).requires_grad_()
    outputs, _ = layer(inputs, mask=AttentionMask(torch.zeros(3, 1, 1, 7, dtype=torch.bool)))
    assert torch.equal(outputs, layer.output.bias.expand(3, 7, 6))
    (gradient,) = torch.autograd.grad(outputs.square().sum(), inputs)
    assert not gradient.any()


def test_dropout_on_the_alignment_acts_in_training_only() -> None:
    layer = MultiHeadSelfAttention(6, num_heads=2, dropout=0.5).double()
    plain = MultiHeadSelfAttention(6, num_heads=2).double()
    plain.load_state_dict(layer.state_dict())
    inputs = steps(6)
    assert not torch.equal(layer(inputs)[0], layer(inputs)[0])
    assert torch.equal(layer.eval()(inputs)[0], plain(inputs)[0])


@pytest.mark.spec(163)
def test_a_size_that_the_heads_cannot_share_is_refused_with_numbers_that_fit() -> None:
    with pytest.raises(ArgumentError) as caught:
        MultiHeadSelfAttention(512, num_heads=6)
    error = caught.value
    assert (error.argument, error.value, error.allowed) == ("num_heads", 6, "1, 2, 4, 8")
    assert "hidden_size 512" in error.what
    assert "head_size=" in error.cure


@pytest.mark.parametrize(
    "wrong",
    [(3, 7), (3, 1, 7), (2, 1, 1, 7), (3, 3, 1, 7), (3, 1, 5, 7), (3, 1, 1, 6), (1, 3, 1, 1, 7)],
    ids=str,
)
def test_a_mask_of_another_shape_is_refused_in_words(wrong: tuple[int, ...]) -> None:
    layer = MultiHeadSelfAttention(6, num_heads=2).double()
    with pytest.raises(UsageError) as caught:
        layer(steps(6), mask=AttentionMask(torch.ones(*wrong, dtype=torch.bool)))
    message = str(caught.value)
    assert f"a mask of shape {wrong}" in message
    assert "(batch 3, heads 2, target 7, source 7)" in message
    assert "is_token[:, None, None, :]" in message


@pytest.mark.parametrize("wrong", [torch.int64, torch.float32, torch.uint8], ids=str)
def test_a_mask_of_another_type_is_refused_in_words(wrong: torch.dtype) -> None:
    layer = MultiHeadSelfAttention(6, num_heads=2).double()
    with pytest.raises(UsageError) as caught:
        layer(steps(6), mask=AttentionMask(torch.ones(3, 1, 1, 7, dtype=wrong)))
    assert f"dtype {str(wrong)[6:]}" in caught.value.what
    assert "dtype float64" in caught.value.what
    assert "bool" in caught.value.cure


def test_gradients_are_right() -> None:
    layer, _ = attention_and_twin(4, 2, qkv_bias=True)
    inputs = steps(4, batch=2, time=3).requires_grad_()
    mask = AttentionMask(padding(torch.tensor([[True, True, True], [True, False, False]])), causal=True)
    assert torch.autograd.gradcheck(lambda x: layer(x, mask=mask)[0], inputs)


def hand_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """softmax(q kᵀ / √head) v with the sums written out; a query that sees nothing gets zeros."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(2, 3)
    weights = scores.exp() * mask if mask.dtype == torch.bool else (scores + mask).exp()
    return weights @ v / weights.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@pytest.mark.spec(142)
@pytest.mark.parametrize("pattern", ["per sequence", "per head", "per query", "added", "everything"])
def test_any_mask_equals_the_sum_over_what_it_leaves(pattern: str) -> None:
    layer, _ = attention_and_twin(6, 3, qkv_bias=False)
    inputs = steps(6).requires_grad_()
    shape = {
        "per sequence": (3, 1, 1, 7),
        "per head": (1, 3, 1, 7),
        "per query": (1, 1, 7, 7),
        "added": (3, 3, 7, 7),
        "everything": (3, 3, 7, 7),
    }[pattern]
    numbers = torch.rand(*shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    mask = (numbers - 0.5).masked_fill(numbers < 0.3, -math.inf) if pattern == "added" else numbers > 0.4
    q, k, v = (
        part.view(3, 7, 3, 2).transpose(1, 2) for part in (inputs @ layer.qkv.weight.T).chunk(3, dim=-1)
    )
    expected = layer.output(hand_attention(q, k, v, mask).transpose(1, 2).flatten(2))
    found, _ = layer(inputs, mask=AttentionMask(mask))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    gradients = [torch.autograd.grad(output.square().sum(), inputs)[0] for output in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=2 * 4 * 4, max_size=2 * 4 * 4), st.booleans())
def test_whatever_is_masked_nothing_leaks_and_nothing_breaks(pattern: list[bool], causal: bool) -> None:
    """Every query is moved by exactly the steps it may see; without any it gets zeros and gives no
    gradient.
    """
    layer, _ = attention_and_twin(4, 2, qkv_bias=True)
    inputs = steps(4, batch=2, time=4).requires_grad_()
    mask = torch.tensor(pattern).view(2, 1, 4, 4)
    outputs, _ = layer(inputs, mask=AttentionMask(mask, causal=causal))
    seen = mask[:, 0].tril() if causal else mask[:, 0]  # (batch, target, source)
    assert torch.isfinite(outputs).all()
    for t in range(4):
        (reach,) = torch.autograd.grad(outputs[:, t].square().sum(), inputs, retain_graph=True)
        moved = reach.abs().sum(dim=-1) > 0  # (batch, source)
        alone = seen[:, t].sum(dim=-1) == 1  # one key has all the weight whatever the query is
        own = torch.arange(4) == t
        assert torch.equal(
            moved,
            torch.where(
                alone[:, None], seen[:, t], (seen[:, t] | own) & seen[:, t].any(dim=-1, keepdim=True)
            ),
        )
        assert torch.equal(
            outputs[:, t][~seen[:, t].any(dim=-1)],
            layer.output.bias.expand(int((~seen[:, t].any(dim=-1)).sum()), 4),
        )


@pytest.mark.parametrize(("heads", "kv_heads"), [(6, 2), (4, 1), (3, 3)])
@pytest.mark.parametrize("causal", [True, False])
def test_shared_heads_equal_repeated_ones(heads: int, kv_heads: int, causal: bool) -> None:
    """Grouped queries: head h looks at the keys and values h // (heads / kv_heads)."""
    torch.manual_seed(3)
    grouped = MultiHeadSelfAttention(5, num_heads=heads, head_size=4, num_kv_heads=kv_heads)
    plain = MultiHeadSelfAttention(5, num_heads=heads, head_size=4)
    randomised(grouped)
    plain.double()
    with torch.no_grad():
        for part in ("weight", "bias"):
            rows = getattr(grouped.qkv, part).unflatten(0, (-1, 4))  # (heads + 2 kv_heads, head, …)
            q, k, v = rows.split([heads, kv_heads, kv_heads])
            repeated = [
                torch.stack([shared[head // (heads // kv_heads)] for head in range(heads)])
                for shared in (k, v)
            ]
            getattr(plain.qkv, part).copy_(torch.cat([q, *repeated]).flatten(0, 1))
        plain.output.load_state_dict(grouped.output.state_dict())
    inputs = steps(5)
    is_token = torch.arange(7) < LENGTHS[:, None]
    mask = AttentionMask(padding(is_token), causal=causal)
    torch.testing.assert_close(grouped(inputs, mask=mask)[0], plain(inputs, mask=mask)[0], rtol=0, atol=1e-12)
    _, cache = grouped(inputs, mask=mask)
    assert cache.keys.shape == (3, kv_heads, 7, 4)  # what the cache saves


def test_heads_that_cannot_share_are_refused_with_numbers_that_fit() -> None:
    with pytest.raises(ArgumentError) as caught:
        MultiHeadSelfAttention(12, num_heads=6, num_kv_heads=4)
    assert (caught.value.argument, caught.value.value) == ("num_kv_heads", 4)
    assert caught.value.allowed == "1, 2, 3, 6"


@pytest.mark.spec(163)
def test_six_heads_of_a_size_of_their_own_fit_any_width() -> None:
    layer = MultiHeadSelfAttention(512, num_heads=6, head_size=64)
    assert layer.qkv.weight.shape == (3 * 6 * 64, 512)
    assert layer.output.weight.shape == (512, 6 * 64)
    inputs = torch.randn(2, 3, 512)
    q, k, v = (part.view(2, 3, 6, 64).transpose(1, 2) for part in layer.qkv(inputs).chunk(3, dim=-1))
    expected = layer.output(
        hand_attention(q, k, v, torch.ones(1, 1, 3, 3, dtype=torch.bool)).transpose(1, 2).flatten(2)
    )
    torch.testing.assert_close(layer(inputs)[0], expected, rtol=0, atol=1e-5)


@pytest.mark.spec(135, 142)
@pytest.mark.parametrize(("key_size", "value_size"), [(6, 6), (5, 5), (5, 3)])
def test_cross_attention_equals_torch_with_the_same_weights(key_size: int, value_size: int) -> None:
    torch.manual_seed(4)
    ours = MultiHeadCrossAttention(6, num_heads=3, key_size=key_size, value_size=value_size)
    randomised(ours)
    twin = nn.MultiheadAttention(6, 3, kdim=key_size, vdim=value_size, batch_first=True).double()
    with torch.no_grad():
        parts = [ours.query, ours.key, ours.value]
        twin.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        if twin.in_proj_weight is None:
            for mine, theirs in zip(
                parts, (twin.q_proj_weight, twin.k_proj_weight, twin.v_proj_weight), strict=True
            ):
                theirs.copy_(mine.weight)
        else:
            twin.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        twin.out_proj.load_state_dict(ours.output.state_dict())
    inputs, keys = steps(6, time=4).requires_grad_(), steps(key_size).requires_grad_()
    values = steps(value_size).requires_grad_()
    is_token = torch.arange(7) < LENGTHS[:, None]
    expected, weights = twin(inputs, keys, values, key_padding_mask=~is_token, average_attn_weights=False)
    with record_alignments(ours) as alignments:
        found = ours(inputs, ours.project_source(keys, values), mask=AttentionMask(padding(is_token)))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(alignments[""][0], weights, rtol=0, atol=1e-10)
    gradients = [
        torch.autograd.grad(output.square().sum(), (inputs, keys, values)) for output in (found, expected)
    ]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


@pytest.mark.spec(135)
def test_cross_attention_to_its_own_steps_is_self_attention() -> None:
    layer, _ = attention_and_twin(6, 2, qkv_bias=True)
    cross = MultiHeadCrossAttention(6, num_heads=2).double()
    with torch.no_grad():
        for part, weight, bias in zip(
            (cross.query, cross.key, cross.value),
            layer.qkv.weight.chunk(3),
            layer.qkv.bias.chunk(3),
            strict=True,
        ):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        cross.output.load_state_dict(layer.output.state_dict())
    inputs = steps(6)
    torch.testing.assert_close(
        cross(inputs, cross.project_source(inputs)), layer(inputs)[0], rtol=0, atol=1e-12
    )


@pytest.mark.spec(142)
def test_it_is_the_module_of_the_lecture() -> None:
    """q, k, v without bias, the output with one; q is divided before the product; the weights are given
    out.
    """
    layer = MultiHeadSelfAttention(6, num_heads=2, qkv_bias=False)
    randomised(layer)
    assert layer.qkv.bias is None
    assert layer.output.bias is not None
    inputs = steps(6)
    q, k, v = (part.unflatten(-1, (2, 3)).transpose(1, 2) for part in layer.qkv(inputs).chunk(3, dim=-1))
    weights = torch.softmax((q / math.sqrt(3)) @ k.transpose(2, 3), dim=-1)
    with record_alignments(layer) as alignments:
        outputs, _ = layer(inputs)
    torch.testing.assert_close(alignments[""][0], weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        outputs, layer.output((weights @ v).transpose(1, 2).reshape(3, 7, 6)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
@pytest.mark.parametrize("window", [0, 3])
def test_a_long_walk_with_the_cache_equals_one_run(dtype: torch.dtype, tolerance: float, window: int) -> None:
    layer = attention_and_twin(12, 4, qkv_bias=True)[0].to(dtype)
    inputs = steps(12, time=150).to(dtype)
    mask = AttentionMask(causal=True, window=window)
    with torch.no_grad():
        whole, _ = layer(inputs, mask=mask)
        cache: KVCache | None = None
        for t in range(150):
            output, cache = layer(inputs[:, t : t + 1], mask=mask, cache=cache)
            torch.testing.assert_close(output[:, 0], whole[:, t], rtol=0, atol=tolerance)


def test_dropping_alignments_leaves_their_mean() -> None:
    torch.manual_seed(0)
    layer = MultiHeadSelfAttention(4, num_heads=2, dropout=0.25).double()
    inputs = steps(4, batch=1, time=5)
    mean = layer(inputs.expand(4000, 5, 4))[0].mean(dim=0, keepdim=True)
    torch.testing.assert_close(mean, layer.eval()(inputs)[0], rtol=0, atol=0.02)

"""Block-wise attention to near steps against a mask on full attention."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.attention.block_window import attend_blockwise, block_size, blockwise_is_cheaper
from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments


def heads(time: int, *, kv_heads: int = 2, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    generator = torch.Generator().manual_seed(time)
    return [
        torch.randn(3, count, time, 5, generator=generator, dtype=dtype).requires_grad_()
        for count in (4, kv_heads, kv_heads)
    ]


def masked(
    q: Tensor, k: Tensor, v: Tensor, *, window: int, causal: bool, may_attend: Tensor | None
) -> Tensor:
    """The same by a mask over all pairs of steps."""
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    padding_mask = ((distance < window) & (distance >= 0 if causal else distance > -window))[None, None]
    if may_attend is not None:
        padding_mask = padding_mask & may_attend[:, None, None, :]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=padding_mask, enable_gqa=True)


@pytest.mark.spec(175)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("time", "window"), [(80, 16), (100, 3), (33, 1), (96, 20), (17, 16), (5, 7), (64, 17)]
)
def test_blocks_give_what_a_mask_gives(time: int, window: int, causal: bool, padded: bool) -> None:
    q, k, v = heads(time)
    may_attend = torch.arange(time) < torch.tensor([time, time // 2, 0])[:, None] if padded else None
    found = attend_blockwise(q, k, v, window=window, causal=causal, may_attend=may_attend)
    expected = masked(q, k, v, window=window, causal=causal, may_attend=may_attend)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    weights = torch.randn_like(expected)
    gradients = [torch.autograd.grad((output * weights).sum(), (q, k, v)) for output in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kv_heads", [1, 4])
def test_heads_may_be_shared_and_single_precision_holds(kv_heads: int) -> None:
    q, k, v = heads(150, kv_heads=kv_heads, dtype=torch.float32)
    found = attend_blockwise(q, k, v, window=19, causal=True)
    torch.testing.assert_close(
        found, masked(q, k, v, window=19, causal=True, may_attend=None), rtol=0, atol=1e-6
    )


def test_gradients_are_right() -> None:
    q, k, v = (part[:1, :1, :, :2].detach().requires_grad_() for part in heads(18, kv_heads=1))
    assert torch.autograd.gradcheck(
        lambda *parts: attend_blockwise(*parts, window=3, causal=False), (q, k, v)
    )


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_takes_the_blocks_when_steps_are_many_and_gives_the_same(
    causal: bool, padded: bool
) -> None:
    torch.manual_seed(0)
    layer = MultiHeadSelfAttention(8, num_heads=2).double()
    steps = torch.randn(2, 90, 8, dtype=torch.float64)
    padding_mask = (torch.arange(90) < torch.tensor([90, 40])[:, None])[:, None, None, :] if padded else None
    mask = AttentionMask(padding_mask, causal=causal, window=4)
    assert mask.is_blockwise(90, 90)
    with record_alignments(layer) as alignments:
        found, cache = layer(steps, mask=mask)
    expected, _ = layer(steps, mask=mask.materialize(90, 90, device=steps.device))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    mixed = alignments[""][0] @ cache.values
    torch.testing.assert_close(layer.output(mixed.transpose(1, 2).flatten(2)), found, rtol=0, atol=1e-12)


def test_blocks_are_for_long_sequences_with_nothing_but_a_window_and_padding() -> None:
    assert not blockwise_is_cheaper(79, 16)
    assert blockwise_is_cheaper(80, 16)
    assert block_size(3) == 16 < block_size(40) == 40
    assert AttentionMask(window=4).is_blockwise(90, 90)
    assert not AttentionMask().is_blockwise(90, 90)
    assert not AttentionMask(window=4).is_blockwise(1, 90)  # behind a past
    assert not AttentionMask(torch.zeros(1, 1, 1, 90), window=4).is_blockwise(90, 90)  # added to the scores
    assert not AttentionMask(torch.ones(1, 1, 90, 90, dtype=torch.bool), window=4).is_blockwise(90, 90)

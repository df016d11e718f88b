"""Multi-head attention from given queries, keys and values."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional as F

from seqlab.attention.block_window import attend_blockwise
from seqlab.attention.masks import AttentionMask, causal_mask
from seqlab.attention.recording import Alignment

Queries = Float[Tensor, "batch heads target head"]
Keys = Float[Tensor, "batch kv_heads source head"]
Values = Float[Tensor, "batch kv_heads source value"]


def attend_heads(
    q: Queries, k: Keys, v: Values, mask: AttentionMask, *, dropout: float = 0.0
) -> Float[Tensor, "batch heads target value"]:
    """softmax(q kᵀ / √head) v over the visible keys; a query that sees no keys gets zeros and gives no
    gradient.

    `F.scaled_dot_product_attention` runs its flash kernel, with any mask that needs no gradient, as long as
    `dropout` (on the alignment) is 0. A window much shorter than the sequence is computed block by block.
    """
    target, source = q.shape[2], k.shape[2]
    if mask.is_blockwise(target, source):
        may_attend = None if mask.tensor is None else mask.tensor[:, 0, 0].expand(len(q), -1)
        return attend_blockwise(
            q, k, v, window=mask.window, causal=mask.causal, may_attend=may_attend, dropout=dropout
        )
    if forward_ad._current_level >= 0:  # noqa: SLF001 - no public name; the flash kernel has no forward mode
        return attend_with_weights(q, k, v, mask, dropout=dropout)[0]
    mask = mask.materialize(target, source, device=q.device)
    grouped = bool(k.shape[1] != q.shape[1])  # a tensor while torch.jit.trace is active
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask.tensor, is_causal=mask.causal, dropout_p=dropout, enable_gqa=grouped
    )


def attend_with_weights(
    q: Queries, k: Keys, v: Values, mask: AttentionMask, *, dropout: float = 0.0
) -> tuple[Float[Tensor, "batch heads target value"], Alignment]:
    """Like `attend_heads`, but also returns the attention weights after dropout, and uses only operations with
    derivatives of any order. Given the weights, the product with the values is faster than an additional flash kernel.
    """
    weights = F.dropout(compute_alignment(q, k, mask), dropout)
    return weights @ v.repeat_interleave(q.shape[1] // v.shape[1], dim=1), weights


def compute_alignment(q: Queries, k: Keys, mask: AttentionMask) -> Alignment:
    """The attention weights softmax(q kᵀ / √head), which the flash kernel does not return."""
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(2, 3)  # (batch, heads, target, source)
    mask = mask.materialize(q.shape[2], k.shape[2], device=q.device)
    if mask.causal:
        scores = scores.masked_fill(~causal_mask(q.shape[2], k.shape[2], device=q.device), -torch.inf)
    if mask.tensor is None:
        return scores.softmax(dim=-1)
    scores = (
        scores.masked_fill(~mask.tensor, -torch.inf)
        if mask.tensor.dtype == torch.bool
        else scores + mask.tensor
    )
    is_fully_masked = (scores == -torch.inf).all(dim=-1, keepdim=True)  # queries without visible keys
    return scores.masked_fill(is_fully_masked, 0.0).softmax(dim=-1).masked_fill(is_fully_masked, 0.0)

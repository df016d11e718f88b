"""Attention of several heads, once queries, keys and values are there."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from seqlab.attention.block_window import attend_in_blocks
from seqlab.attention.masks import Sight, past_mask
from seqlab.attention.recording import Alignment

Queries = Float[Tensor, "batch heads target head"]
Keys = Float[Tensor, "batch kv_heads source head"]
Values = Float[Tensor, "batch kv_heads source value"]


def attend_heads(q: Queries, k: Keys, v: Values, sight: Sight, *, dropout: float = 0.0) -> Float[Tensor, "batch heads target value"]:
    """softmax(q kᵀ / √head) v over what the queries see; one that sees nothing gets zeros, and gives no gradient.

    `F.scaled_dot_product_attention` runs its flash kernel, with any mask that does not learn, as long as `dropout` (on the alignment)
    is 0. A window much shorter than the sequence is computed block by block.
    """
    target, source = q.shape[2], k.shape[2]
    if sight.in_blocks(target, source):
        may_attend = None if sight.mask is None else sight.mask[:, 0, 0].expand(len(q), -1)
        return attend_in_blocks(q, k, v, window=sight.window, causal=sight.causal, may_attend=may_attend, dropout=dropout)
    sight = sight.as_mask(target, source, device=q.device)
    grouped = k.shape[1] != q.shape[1]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=sight.mask, is_causal=sight.causal, dropout_p=dropout, enable_gqa=grouped)


def alignment_of(q: Queries, k: Keys, sight: Sight) -> Alignment:
    """softmax(q kᵀ / √head) itself, which the flash kernel never writes down."""
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(2, 3)  # (batch, heads, target, source)
    sight = sight.as_mask(q.shape[2], k.shape[2], device=q.device)
    if sight.causal:
        scores = scores.masked_fill(~past_mask(q.shape[2], k.shape[2], device=q.device), -torch.inf)
    if sight.mask is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~sight.mask, -torch.inf) if sight.mask.dtype == torch.bool else scores + sight.mask
    is_blind = (scores == -torch.inf).all(dim=-1, keepdim=True)  # queries without anything to look at
    return scores.masked_fill(is_blind, 0.0).softmax(dim=-1).masked_fill(is_blind, 0.0)

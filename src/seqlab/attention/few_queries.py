"""Attention of one or a few queries to many steps, as in decoding token by token."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

Queries = Float[Tensor, "batch heads target head"]
Keys = Float[Tensor, "batch kv_heads source head"]
BMM_MIN_SEQUENCES, BMM_MIN_STEPS = 8, 13
"""Minimum numbers of sequences and of steps from which one batched product over all heads was measured to be
faster than the flash kernel, which processes heads one by one.
"""


def attend_few_queries(
    q: Queries, k: Keys, v: Keys, bias: Float[Tensor, "batch 1 1 source"] | None = None
) -> Float[Tensor, "batch heads target head"]:
    """softmax(q kᵀ / √head + bias) v. The bias must not be -inf for all keys of a query.

    Heads that share keys and values are treated as additional queries.
    """
    batch, heads, target, size = q.shape
    kv_heads, source = k.shape[1], k.shape[2]
    if batch < BMM_MIN_SEQUENCES or source < BMM_MIN_STEPS:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=heads != kv_heads)
    q = q.reshape(batch * kv_heads, -1, size)
    k, v = k.flatten(0, 1).transpose(1, 2), v.flatten(0, 1)
    if bias is None:
        scores = torch.bmm(q, k).mul_(size**-0.5)  # (batch * kv_heads, queries, source)
    else:
        scores = torch.baddbmm(bias.expand(-1, kv_heads, -1, -1).flatten(0, 1), q, k, alpha=size**-0.5)
    return torch.bmm(scores.softmax(dim=-1), v).view(batch, heads, target, size)

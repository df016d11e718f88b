"""The additive score in chunks: the inner layer is never stored and is recomputed in the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

MAX_CHUNK_ELEMENTS = 1 << 22
"""Numbers of the inner layer in one piece: 16 MB in float32.

Smaller layers are faster whole, larger ones in pieces.
"""

Queries = Float[Tensor, "batch target hidden"]
Keys = Float[Tensor, "batch source hidden"]
Weight = Float[Tensor, " hidden"]
Scores = Float[Tensor, "batch target source"]
Inner = Float[Tensor, "batch piece source hidden"]


class ChunkedAdditiveScores(Function):
    """scores_ts = v · inner_ts, inner_ts = tanh(query_t + key_s), a few queries at a time.

    Backward, where δ is the gradient of the scores:

        ∂inner   = δ_ts v ⊙ (1 - inner_ts²)
        ∂query_t = Σ_s ∂inner,   ∂key_s = Σ_t ∂inner,   ∂v = Σ_ts δ_ts inner_ts
    """

    @staticmethod
    def forward(ctx: Any, queries: Queries, keys: Keys, weight: Weight) -> Scores:
        ctx.save_for_backward(queries, keys, weight)
        scores = queries.new_empty(*queries.shape[:2], keys.shape[1])
        for chunk, inner in _chunks(queries, keys):
            scores[:, chunk] = inner @ weight
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Scores) -> tuple[Queries, Keys, Weight]:
        queries, keys, weight = ctx.saved_tensors
        of_queries, of_keys, of_weight = (
            torch.empty_like(queries),
            torch.zeros_like(keys),
            torch.zeros_like(weight),
        )
        for chunk, inner in _chunks(queries, keys):
            delta = gradient[:, chunk]  # (batch, piece, source)
            of_weight += delta.flatten() @ inner.flatten(0, 2)
            of_inner = inner.square_().neg_().add_(1).mul_(weight).mul_(delta.unsqueeze(-1))
            of_queries[:, chunk] = of_inner.sum(dim=2)
            of_keys += of_inner.sum(dim=1)
        return of_queries, of_keys, of_weight


def chunked_additive_scores(queries: Queries, keys: Keys, weight: Weight) -> Scores:
    """v · tanh(query_t + key_s) for all pairs."""
    function: type[Function] = ChunkedAdditiveScores  # torch's own class: mypy accepts its untyped `apply`
    return function.apply(queries, keys, weight)


def query_chunk_size(keys: Keys) -> int:
    return max(1, MAX_CHUNK_ELEMENTS // max(1, keys.numel()))


def _chunks(queries: Queries, keys: Keys) -> Iterator[tuple[slice, Inner]]:
    """Chunks of queries with their inner layer, all in one reused block of memory to avoid fragmentation."""
    size = query_chunk_size(keys)
    block = keys.new_empty(len(keys), size, *keys.shape[1:])
    for start in range(0, queries.shape[1], size):
        chunk = slice(start, min(start + size, queries.shape[1]))
        inner = block[:, : chunk.stop - start]
        yield chunk, torch.add(queries[:, chunk].unsqueeze(2), keys.unsqueeze(1), out=inner).tanh_()

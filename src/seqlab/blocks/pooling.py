"""Pooling: reduce all steps of a sequence to one vector."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.learned_queries import LearnedQueries
from seqlab.attention.scaled_dot import ScaledDotScore


class MaxPool(nn.Module):
    """Max pooling: the maximum of every feature over the real steps."""

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch hidden"]:
        return steps.masked_fill(~is_token.unsqueeze(-1), float("-inf")).amax(dim=1)


class MeanPool(nn.Module):
    """Mean pooling over the real steps."""

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch hidden"]:
        kept = steps.masked_fill(~is_token.unsqueeze(-1), 0.0)
        return kept.sum(dim=1) / is_token.sum(dim=1, keepdim=True)


class FirstPool(nn.Module):
    """The first step, in which a Transformer summarizes a text if every text begins with the same token."""

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch hidden"]:
        return steps[:, 0]


class LastPool(nn.Module):
    """The last real step and, in a bidirectional stack, the first step of the backward half: the final
    state of each direction.
    """

    def __init__(self, *, bidirectional: bool) -> None:
        super().__init__()
        self.bidirectional = bidirectional

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch hidden"]:
        last = is_token.sum(dim=1) - 1  # (batch,)
        at_last = steps[torch.arange(len(steps), device=steps.device), last]  # (batch, hidden)
        if not self.bidirectional:
            return at_last
        half = steps.shape[2] // 2
        return torch.cat([at_last[:, :half], steps[:, 0, half:]], dim=-1)


class AttentionPool(nn.Module):
    """output = [context_1; …; context_n] of n learned queries over the real steps.

    The steps are used as keys and values without projections: a projection of the keys could be merged into
    the queries, one of the values into the head. `record_alignments` records the attention weights of each
    query.
    """

    def __init__(self, hidden_size: int, *, num_queries: int) -> None:
        super().__init__()
        self.look = LearnedQueries(
            Attention(ScaledDotScore(hidden_size, hidden_size)), num_queries=num_queries
        )
        self.output_size = num_queries * hidden_size

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch pooled"]:
        return self.look(steps, is_token).flatten(1)


def pooled_size(pool: nn.Module, size: int) -> int:
    """Width of the pooled vector for steps of a given width: that of a step, or a multiple with several
    queries.
    """
    return pool.output_size if isinstance(pool, AttentionPool) else size

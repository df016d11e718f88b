"""Attention pooling: the concatenated contexts of a few learned queries over the steps of a sequence."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.learned_queries import LearnedQueries
from seqlab.attention.scaled_dot import ScaledDotScore


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

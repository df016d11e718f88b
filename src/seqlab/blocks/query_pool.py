"""All steps of a sequence -> what a few learned queries found in them, side by side."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.learned_queries import LearnedQueries
from seqlab.attention.scaled_dot import ScaledDotScore


class AttentionPool(nn.Module):
    """output = [context_1; …; context_n] of n learned queries over the real steps.

    The steps are keys and values as they are: a projection of the keys could be moved into the queries, one
    of the values into the head. `record_alignments` shows at which step each query looks.
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
    """Width of the vector that a pool makes of steps of a width: that of a step, or more where several
    queries look.
    """
    return pool.output_size if isinstance(pool, AttentionPool) else size

"""Dot-product score: q · k."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from seqlab.attention.base import ScoreFunction, require_equal_sizes, score_functions


@score_functions.register("dot")
class DotScore(ScoreFunction):
    """The dot product of query and key, which have the same width.

        score(q, k) = q · k

    For random features the score grows with the square root of their number, and the softmax of large scores is
    nearly one-hot: `scaled_dot` corrects for that. Paper: Luong et al. 2015, arXiv:1508.04025, section 3.1.
    """

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(require_equal_sizes("dot", query_size, key_size), key_size)

    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source query"]
    ) -> Float[Tensor, "batch target source"]:
        return queries @ keys.transpose(1, 2)

"""General (bilinear) score, for any two widths: qᵀ W k."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.base import ScoreFunction, score_functions


@score_functions.register("general")
class GeneralScore(ScoreFunction):
    """A learned bilinear form of query and key.

        score(q, k) = qᵀ W k

    The prepared keys are W k; with W = 1 this is `dot`. Paper: Luong et al. 2015, arXiv:1508.04025, section 3.1.
    """

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(query_size, key_size)
        self.project_key = nn.Linear(key_size, query_size, bias=False)

    def project_keys(self, keys: Float[Tensor, "batch source key"]) -> Float[Tensor, "batch source query"]:
        return self.project_key(keys)

    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source query"]
    ) -> Float[Tensor, "batch target source"]:
        return queries @ keys.transpose(1, 2)

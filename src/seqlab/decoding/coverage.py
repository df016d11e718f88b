"""Coverage penalty for parts of the source that were not translated."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

MIN_COVERAGE = 1e-9
"""Minimum coverage of a source step, so that a step without attention does not give a penalty of -inf."""


@dataclass(frozen=True)
class CoveragePenalty:
    """penalty = beta Σ_i log(min(Σ_t alignment_ti, 1)) over the steps i of the source; it is never above 0.

    It is added to the score of a complete hypothesis, so it does not affect pruning. Paper: Wu et al. 2016,
    "Google's Neural Machine Translation System", arXiv:1609.08144, equation 14.
    """

    beta: float

    def penalty(
        self,
        coverage: Float[Tensor, "sentences hypotheses source"],
        is_token: Bool[Tensor, "sentences source"],
    ) -> Float[Tensor, "sentences hypotheses"]:
        """coverage: Σ_t alignment_t of each hypothesis so far."""
        log_coverage = (
            coverage.double().clamp(MIN_COVERAGE, 1.0).log().masked_fill(~is_token.unsqueeze(1), 0.0)
        )
        return self.beta * log_coverage.sum(dim=2)

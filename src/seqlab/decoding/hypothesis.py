"""A hypothesis: a decoded target and its log-probability."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A target without start and end token.

    log_prob = Σ_t log P(token_t | source, tokens before), including the end token if it ended. The
    probabilities are those of the network: constraints, penalties and temperature only affect the choice.
    """

    tokens: list[int]
    token_log_probs: list[float]
    """One value per token, then one for the end token if it ended."""
    score: float
    """The ranking score: log_prob, unless the search has another rule."""
    ended: bool
    """Whether it ended with the end token; otherwise it reached the limit, or no allowed token could follow."""

    @property
    def log_prob(self) -> float:
        return sum(self.token_log_probs)

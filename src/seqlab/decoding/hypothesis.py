"""One target that was found, and how probable it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A target without start and end token.

    log_prob = Σ_t log P(token_t | source, tokens before), with the end token where it ended. The
    probabilities are the network's own: whatever forbids, penalises or sharpens only changes what is chosen.
    """

    tokens: list[int]
    token_log_probs: list[float]
    """Of every token, then of the end token where it ended."""
    score: float
    """What it was ranked by: its log_prob, unless the search has another rule."""
    ended: bool
    """Whether the end token came; else it was cut at the limit, or nothing that was allowed could follow."""

    @property
    def log_prob(self) -> float:
        return sum(self.token_log_probs)

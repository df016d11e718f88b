"""Length normalization: how hypotheses of different lengths are ranked."""

from __future__ import annotations

from abc import ABC, abstractmethod


class LengthPenalty(ABC):
    """score = log_prob / divisor(length), where the length includes the end token.

    A sum of log-probabilities decreases with every token, so a beam prefers short targets; a divisor that
    grows with the length compensates for that.
    """

    @abstractmethod
    def divisor(self, length: int) -> float:
        """Positive and monotonic in the length."""

    def score(self, log_prob: float, length: int) -> float:
        return log_prob / self.divisor(length) if length else log_prob

    def bound(self, log_prob: float, *, length: int, max_length: int) -> float:
        """An upper bound on the score of all continuations of a hypothesis with this log_prob and length (of
        at least 1).

        Its log_prob can only fall, and its divisor lies between those of its own length and of the maximum
        length: score ≤ log_prob / max(divisor(length), divisor(max_length)), since log_prob ≤ 0.
        """
        return log_prob / max(self.divisor(length), self.divisor(max_length))


class NoLengthPenalty(LengthPenalty):
    """score = log_prob: the most likely target wins."""

    def divisor(self, length: int) -> float:
        return 1.0


class PowerLengthPenalty(LengthPenalty):
    """score = log_prob / length^alpha; with alpha = 1 it is the mean over the tokens.

    Paper: Jean et al. 2015, "Montreal Neural Machine Translation Systems for WMT'15", section 3.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def divisor(self, length: int) -> float:
        return float(length**self.alpha)


class GNMTLengthPenalty(LengthPenalty):
    """score = log_prob / ((5 + length) / 6)^alpha.

    Paper: Wu et al. 2016, "Google's Neural Machine Translation System", arXiv:1609.08144, equation 14.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def divisor(self, length: int) -> float:
        return float(((5 + length) / 6) ** self.alpha)

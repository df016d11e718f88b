"""What a masked language model found in the gaps of a split, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from seqlab.baselines.neighbours import Guesses
from seqlab.metrics.bootstrap import ratio_interval
from seqlab.metrics.likelihood import nats_per_token, perplexity, total_nats
from seqlab.metrics.score import Score

Places = Int[np.ndarray, " places"]


@dataclass(frozen=True)
class FoundTokens:
    """Every gap of a split: its sequence, the hidden token, its visible neighbours, and what the model said, in the order of the text."""

    rows: Places
    places: Places
    truth: Places
    left: Places
    right: Places
    guesses: Guesses
    sureness: Float[np.ndarray, " places"]
    """The natural-log probability of what the model thought likeliest."""

    @classmethod
    def joined(cls, batches: Sequence[Sequence[NDArray[Any]]]) -> FoundTokens:
        """Of batches in any order, each with the columns rows, places, truth, left, right, best, log-probability of the truth, sureness."""
        columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        rows, places, truth, left, right, best, log_probs, sureness = (column[order] for column in columns)
        return cls(rows, places, truth, left, right, Guesses(best, log_probs), sureness)

    @property
    def correct(self) -> Bool[np.ndarray, " places"]:
        return self.guesses.best == self.truth

    def surest_mistakes(self, most: int) -> Places:
        """The gaps that were filled wrongly and whose token was thought least likely, worst first."""
        wrong = np.flatnonzero(~self.correct)
        return wrong[np.argsort(self.guesses.log_probs[wrong], kind="stable")][:most]


def score(found: FoundTokens, *, baseline: Guesses | None, baseline_name: str, how: str) -> list[Score]:
    """Nats, perplexity and accuracy per hidden token with intervals over sequences, beside what a naive model makes of the same gaps."""
    count = len(found.truth)
    sizes = np.bincount(found.rows).astype(np.float64)
    nats, right = _by_row(found, -found.guesses.log_probs), _by_row(found, found.correct)
    surprise, accuracy = ratio_interval(nats, sizes[sizes > 0]), ratio_interval(right, sizes[sizes > 0])
    total = total_nats(found.guesses.log_probs)
    naive = None if baseline is None else (total_nats(baseline.log_probs), float((baseline.best == found.truth).mean()))
    how = f"{how}; 95 % bootstrap interval over {len(right):,} sequences"
    return [
        Score(
            "nats_per_masked_token", nats_per_token(total, count), surprise.low, surprise.high,
            baseline=naive and nats_per_token(naive[0], count), baseline_name=baseline_name, higher_is_better=False,
            how=f"mean -log P(hidden token); {how}",
        ),
        Score(
            "perplexity", perplexity(total, count), perplexity(surprise.low, 1), perplexity(surprise.high, 1),
            baseline=naive and perplexity(naive[0], count), baseline_name=baseline_name, higher_is_better=False,
            how=f"exp(nats per masked token); {how}",
        ),
        Score(
            "accuracy", float(found.correct.mean()), accuracy.low, accuracy.high,
            baseline=naive and naive[1], baseline_name=baseline_name, how=f"share of hidden tokens whose likeliest guess is right; {how}",
        ),
    ]  # fmt: skip


def _by_row(found: FoundTokens, values: Float[np.ndarray, " places"] | Bool[np.ndarray, " places"]) -> Float[np.ndarray, " rows"]:
    """The sum over each sequence that has a gap."""
    sums = np.bincount(found.rows, weights=values.astype(np.float64))
    return sums[np.bincount(found.rows) > 0]

"""What a masked language model found in the gaps of a split, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from seqlab.baselines.neighbours import GapPredictions
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import Items, exp_ratio, grouped_mean_items
from seqlab.metrics.likelihood import nats_per_token, perplexity, total_nats
from seqlab.metrics.score import Score
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.tasks.text.token_counts import COUNT_EDGES, COUNT_NAMES

Places = Int[np.ndarray, " places"]


@dataclass(frozen=True)
class FoundTokens:
    """Every gap of a split: its sequence, the hidden token, its visible neighbours, and what the model said,
    in the order of the text.
    """

    rows: Places
    places: Places
    truth: Places
    left: Places
    right: Places
    guesses: GapPredictions
    sureness: Float[np.ndarray, " places"]
    """The natural-log probability of what the model thought likeliest."""

    @classmethod
    def joined(cls, batches: Sequence[Sequence[NDArray[Any]]]) -> FoundTokens:
        """Of batches in any order, each with the columns rows, places, truth, left, right, best,
        log-probability of the truth, sureness.
        """
        columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        rows, places, truth, left, right, best, log_probs, sureness = (column[order] for column in columns)
        return cls(rows, places, truth, left, right, GapPredictions(best, log_probs), sureness)

    @property
    def correct(self) -> Bool[np.ndarray, " places"]:
        return self.guesses.best == self.truth

    def surest_mistakes(self, most: int) -> Places:
        """The gaps that were filled wrongly and whose token was thought least likely, worst first."""
        wrong = np.flatnonzero(~self.correct)
        return wrong[np.argsort(self.guesses.log_probs[wrong], kind="stable")][:most]


def items_of(found: FoundTokens) -> dict[str, Items]:
    """What the scores are made of: the sequences that have a gap."""
    nats = -found.guesses.log_probs
    return {
        "nats_per_masked_token": grouped_mean_items(nats, found.rows),
        "perplexity": grouped_mean_items(nats, found.rows, exp_ratio),
        "accuracy": grouped_mean_items(found.correct, found.rows),
    }


def score(
    found: FoundTokens, *, baseline: GapPredictions | None, baseline_name: str, how: str
) -> list[Score]:
    """Nats, perplexity and accuracy per hidden token with intervals over sequences, beside what a naive model
    makes of the same gaps.
    """
    count, items = len(found.truth), items_of(found)
    naive = (
        None
        if baseline is None
        else (total_nats(baseline.log_probs), float((baseline.best == found.truth).mean()))
    )
    how = f"{how}; 95 % bootstrap interval over {items['accuracy'].num_items:,} sequences"
    return [
        score_with_interval(
            "nats_per_masked_token",
            items["nats_per_masked_token"],
            baseline=naive and nats_per_token(naive[0], count),
            baseline_name=baseline_name,
            higher_is_better=False,
            method=f"mean -log P(hidden token); {how}",
        ),
        score_with_interval(
            "perplexity",
            items["perplexity"],
            baseline=naive and perplexity(naive[0], count),
            baseline_name=baseline_name,
            higher_is_better=False,
            method=f"exp(nats per masked token); {how}",
        ),
        score_with_interval(
            "accuracy",
            items["accuracy"],
            baseline=naive and naive[1],
            baseline_name=baseline_name,
            method=f"share of hidden tokens whose likeliest guess is right; {how}",
        ),
    ]


def slices_by_frequency(found: FoundTokens, times: Places) -> list[ScoreSlices]:
    """Accuracy by how often training has the hidden token."""
    parts = parts_within_items(
        lambda inside: grouped_mean_items(found.correct[inside], found.rows[inside]),
        assign_groups(times, COUNT_EDGES),
        COUNT_NAMES,
    )
    return slice_scores(
        "times that training has the hidden token", score="accuracy", unit="tokens", parts=parts
    )

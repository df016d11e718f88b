"""The scores of a masked language model: loss, perplexity and accuracy per masked token."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.baselines.neighbors import GapPredictions
from seqlab.metrics.items import Items, exp_ratio, grouped_mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.tasks.masked_language_model.predictions import MaskedPredictions
from seqlab.tasks.text.token_counts import COUNT_EDGES, COUNT_NAMES


def score_items(predictions: MaskedPredictions) -> dict[str, Items]:
    """Return the items that each score is computed from: sequences with a masked token."""
    return _items(-predictions.guesses.log_probs, predictions.is_correct, predictions.rows)


def _items(
    nats: Float[np.ndarray, " masked"],
    is_correct: Bool[np.ndarray, " masked"],
    rows: Int[np.ndarray, " masked"],
) -> dict[str, Items]:
    return {
        "nats_per_masked_token": grouped_mean_items(nats, rows),
        "perplexity": grouped_mean_items(nats, rows, exp_ratio),
        "accuracy": grouped_mean_items(is_correct, rows),
    }


def score_masked(
    predictions: MaskedPredictions, *, baseline: GapPredictions | None, baseline_name: str, method: str
) -> list[Score]:
    """Return nats, perplexity and accuracy per masked token with intervals over sequences, compared with a
    baseline on the same tokens.
    """
    items, baselines = score_items(predictions), _baseline_items(predictions, baseline)
    method = f"{method}; 95% CI by bootstrap over {items['accuracy'].num_items:,} sequences"
    definitions = {
        "nats_per_masked_token": "mean -log P(masked token)",
        "perplexity": "exp(nats per masked token)",
        "accuracy": "share of masked tokens that are the most probable prediction",
    }
    return [
        score_with_interval(
            name,
            items[name],
            baseline=baselines.get(name),
            baseline_name=baseline_name,
            higher_is_better=name == "accuracy",
            method=f"{definition}; {method}",
            unit="sequences",
        )
        for name, definition in definitions.items()
    ]


def _baseline_items(predictions: MaskedPredictions, baseline: GapPredictions | None) -> dict[str, Items]:
    if baseline is None:
        return {}
    return _items(-baseline.log_probs, baseline.best == predictions.targets, predictions.rows)


def slices_by_token_frequency(
    predictions: MaskedPredictions, counts: Int[np.ndarray, " masked"]
) -> list[ScoreSlices]:
    """Return the accuracy by training frequency of the masked token."""
    is_correct, rows = predictions.is_correct, predictions.rows
    parts = parts_within_items(
        lambda inside: grouped_mean_items(is_correct[inside], rows[inside]),
        assign_groups(counts, COUNT_EDGES),
        COUNT_NAMES,
    )
    return slice_scores(
        "occurrences of the masked token in training", score="accuracy", unit="tokens", parts=parts
    )

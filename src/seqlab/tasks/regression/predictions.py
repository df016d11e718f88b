"""What a model said where a number was asked for, and how far off that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import Items
from seqlab.metrics.regression import mae_items, r_squared_items, rmse_items, spearman_items
from seqlab.metrics.score import Score
from seqlab.pages.sections.predicted_numbers import PredictedNumbers

MOST_POINTS = 2000
"""At most so many examples are drawn."""
HOW = {
    "rmse": "root of the mean squared error",
    "mae": "mean distance from the truth",
    "r_squared": "1 - squared errors / squared distances from the mean of the truths",
    "spearman": "correlation of the ranks",
}


@dataclass(frozen=True)
class NumberAnswers:
    """The numbers that were right and those that were predicted, in the order of the file."""

    truth: Float[np.ndarray, " examples"]
    predicted: Float[np.ndarray, " examples"]


def items_of(answers: NumberAnswers) -> dict[str, Items]:
    """What the scores are made of: examples."""
    truth, predicted = answers.truth, answers.predicted
    return {
        "rmse": rmse_items(truth, predicted),
        "mae": mae_items(truth, predicted),
        "r_squared": r_squared_items(truth, predicted),
        "spearman": spearman_items(truth, predicted),
    }


def score(answers: NumberAnswers, *, mean: NumberAnswers, ridge: NumberAnswers | None) -> list[Score]:
    """Errors and correlations with their intervals, beside a ridge on the bag of tokens where there is one,
    else beside the mean of train.
    """
    naive, name = (mean, "the mean of train") if ridge is None else (ridge, "ridge on a bag of tokens")
    beside, trivial = items_of(naive), items_of(mean)
    return [
        score_with_interval(
            each,
            items,
            baseline=beside[each].full_score(),
            baseline_name=name,
            higher_is_better=each not in ("rmse", "mae"),
            method=(
                f"{HOW[each]}; the mean of train has {trivial[each].full_score():.4g}; 95 % bootstrap"
                f" interval over {len(answers.truth):,} examples"
            ),
        )
        for each, items in items_of(answers).items()
    ]


def predicted_numbers(answers: NumberAnswers, *, reach: float | None) -> PredictedNumbers:
    """Truth and prediction of some examples, and how many truths lie within the range of a prediction."""
    places = np.unique(
        np.linspace(0, len(answers.truth) - 1, min(MOST_POINTS, len(answers.truth))).round().astype(int)
    )
    errors = np.abs(answers.truth - answers.predicted)
    within = None if reach is None else float((errors <= reach).mean())
    return PredictedNumbers(answers.truth[places].tolist(), answers.predicted[places].tolist(), reach, within)

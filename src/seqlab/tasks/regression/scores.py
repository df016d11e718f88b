"""Predicted numbers, and their scores with confidence intervals and a baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.metrics.items import Items
from seqlab.metrics.regression import mae_items, r_squared_items, rmse_items, spearman_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.sections.predicted_numbers import PredictedNumbers
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence import outputs_of
from seqlab.tasks.regression.baseline import NumberBaseline
from seqlab.tasks.regression.codec import RegressionCodec

MAX_POINTS = 2000
"""Maximum number of examples in the chart."""
METHODS = {
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r_squared": "1 - sum of squared errors / total sum of squares",
    "spearman": "rank correlation",
}


@dataclass(frozen=True)
class NumberPredictions:
    """The true and the predicted numbers, in file order."""

    truth: Float[np.ndarray, " examples"]
    predicted: Float[np.ndarray, " examples"]

    @property
    def distances(self) -> Float[np.ndarray, " examples"]:
        """Absolute error of every prediction."""
        return np.abs(self.truth - self.predicted)


def predict_numbers(model: nn.Module, codec: RegressionCodec, split: LabeledSplit) -> NumberPredictions:
    """Run the network over a split."""
    outputs = outputs_of(model, codec, split)[:, 0]
    return NumberPredictions(codec.truth(split.store), codec.labels.decode(outputs))


def number_text(number: float) -> str:
    """
    >>> number_text(3.14159), number_text(1234567.8), number_text(0.000012345)
    ('3.142', '1.235e+06', '1.234e-05')
    """
    return f"{number:.4g}"


def number_items(predictions: NumberPredictions) -> dict[str, Items]:
    """Return the per-example terms of each score."""
    truth, predicted = predictions.truth, predictions.predicted
    return {
        "rmse": rmse_items(truth, predicted),
        "mae": mae_items(truth, predicted),
        "r_squared": r_squared_items(truth, predicted),
        "spearman": spearman_items(truth, predicted),
    }


def number_scores(
    predictions: NumberPredictions, *, mean: NumberPredictions, baseline: NumberBaseline
) -> list[Score]:
    """Return errors and correlations, compared with a baseline; the method also reports the training mean."""
    baseline_items = number_items(NumberPredictions(predictions.truth, baseline.predicted))
    mean_items = number_items(mean)
    return [
        score_with_interval(
            score,
            items,
            baseline=baseline_items[score],
            baseline_name=baseline.name,
            higher_is_better=score not in ("rmse", "mae"),
            method=(
                f"{METHODS[score]}; the training mean gets {mean_items[score].full_score():.4g}; 95% CI by bootstrap"
                f" over {len(predictions.truth):,} rows"
            ),
        )
        for score, items in number_items(predictions).items()
    ]


def predicted_numbers_section(
    predictions: NumberPredictions, *, half_width: float | None
) -> PredictedNumbers:
    """Return truth and prediction of some examples, and the coverage of the prediction intervals."""
    count = len(predictions.truth)
    points = np.unique(np.linspace(0, count - 1, min(MAX_POINTS, count)).round().astype(int))
    covered = None if half_width is None else float((predictions.distances <= half_width).mean())
    return PredictedNumbers(
        predictions.truth[points].tolist(), predictions.predicted[points].tolist(), half_width, covered
    )

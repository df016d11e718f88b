"""Score forecasts from the origins of a split, next to persistence."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.forecasting import ForecastErrors
from seqlab.metrics.items import Items
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.outputs import predict_windows
from seqlab.tasks.forecasting.predictor import ForecastingPredictor
from seqlab.tasks.forecasting.series import fill_forward
from seqlab.tasks.forecasting.split import ForecastSplit

METHODS = {"rmse": "root mean squared error", "mae": "mean absolute error"}


class ForecastingEvaluator(Evaluator[ForecastingCodec, ForecastSplit, ForecastingPredictor]):
    """Scores the medians of all forecasts of a split."""

    def evaluate(self, predictor: ForecastingPredictor, split: str) -> Evaluation:
        encoded = self.splits[split]
        quantiles = predict_windows(predictor.model, self.codec, encoded)
        groups, unit = score_groups(encoded)
        naive = np.repeat(last_values(encoded)[:, None], encoded.horizon, axis=1)
        items, baseline = (errors(encoded.truth, values, groups) for values in (quantiles.median, naive))
        scores = [
            score_with_interval(
                name,
                items[name],
                baseline=baseline[name],
                baseline_name="persistence",
                higher_is_better=False,
                method=f"{METHODS[name]}; 95% CI by bootstrap over {items[name].num_items:,} {unit}",
                unit=unit,
            )
            for name in METHODS
        ]
        return Evaluation(split, scores, [Facts({"forecasts": len(encoded)})], items)


def score_groups(split: ForecastSplit) -> tuple[Int[np.ndarray, " windows"], str]:
    """Return the item that each window belongs to, and what an item is: a series, or for a single series a block of
    origins that is as long as the horizon.
    """
    if len(split.store) > 1:
        numbers, unit = split.windows[:, 0], "series"
    else:
        numbers, unit = split.windows[:, 1] // split.horizon, "blocks of origins"
    return np.unique(numbers, return_inverse=True)[1], unit


def errors(
    truth: Float[np.ndarray, "windows horizon targets"],
    predicted: Float[np.ndarray, "windows horizon targets"],
    groups: Int[np.ndarray, " windows"],
) -> dict[str, Items]:
    """Return the items of every score, over all steps and targets."""
    flat = ForecastErrors(truth.reshape(len(truth), -1), predicted.reshape(len(truth), -1), groups)
    return {"rmse": flat.rmse(), "mae": flat.mae()}


def last_values(split: ForecastSplit) -> Float[np.ndarray, "windows targets"]:
    """Return the last known value of each target before every origin; 0 if there is none."""
    filled = [np.nan_to_num(fill_forward(series.targets)) for series in split.series]
    return np.stack([filled[number][origin - 1] for number, origin in split.windows])

"""Calibrate a classifier on the validation split: a temperature and, for two classes, a threshold; and
their curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from seqlab.metrics.calibration import calibration_error_items, expected_calibration_error, reliability_curve
from seqlab.metrics.items import Items
from seqlab.metrics.ranking import average_precision_items, roc_auc_items, threshold_curve
from seqlab.pages.sections.calibration import CalibrationCurves, Thresholds
from seqlab.tasks.calibration import Calibration, number_between
from seqlab.tasks.codec import Codec
from seqlab.tasks.labeled.class_predictions import ClassPredictions

MAX_POINTS = 200
TABLE = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Thresholds in the small table, in addition to the best one."""
LOG_ODDS_DECIMALS = 5
"""Log-odds of equal inputs differ by less: float32 sums round differently for other lengths and batches."""


@dataclass(frozen=True)
class ClassificationCalibration(Calibration):
    """Paper: Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv:1706.04599, section 4.2."""

    temperature: float = 1.0
    """Divides the logits, so that probabilities match the accuracy."""
    threshold: float | None = None
    """The threshold on the probability of the second of two classes that gives the best F1."""

    def to_json(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "threshold": self.threshold}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        temperature = number_between(choices, "temperature", 1e-3, 1e3, otherwise=1.0)
        if choices.get("threshold") is None:
            return cls(temperature)
        return cls(temperature, number_between(choices, "threshold", 0.0, 1.0, otherwise=0.5))


def confidence(predictions: ClassPredictions) -> Float[np.ndarray, " examples"]:
    """Return the probability of the predicted class."""
    probability: Float[np.ndarray, " examples"] = np.exp(predictions.log_probs.max(axis=1).astype(np.float64))
    return probability


def calibration_items(predictions: ClassPredictions) -> Items:
    """Return the per-example terms of the calibration error."""
    return calibration_error_items(confidence(predictions), predictions.correct)


def calibration_section(
    before: ClassPredictions, after: ClassPredictions, *, temperature: float
) -> CalibrationCurves:
    """Return the reliability curves with and without the temperature."""
    return CalibrationCurves(temperature, _curve(before), _curve(after))


def _curve(predictions: ClassPredictions) -> dict[str, Any]:
    bins = reliability_curve(confidence(predictions), predictions.correct)
    return {
        "error": expected_calibration_error(bins),
        "nats": float(predictions.nats.mean()),
        "bins": [asdict(entry) for entry in bins],
    }


def ranking_items(uncalibrated: ClassPredictions) -> dict[str, Items]:
    """For two classes: how well the probability of the second class ranks its examples first.

    Uses log-odds, which keep the order of probabilities that round to 0 or 1, without the temperature,
    which would scale the rounding errors too.
    """
    log_probs = uncalibrated.log_probs.astype(np.float64)
    is_positive = uncalibrated.targets == 1
    scores = np.round(log_probs[:, 1] - log_probs[:, 0], LOG_ODDS_DECIMALS)
    return {
        "roc_auc": roc_auc_items(is_positive, scores),
        "average_precision": average_precision_items(is_positive, scores),
    }


def best_threshold(predictions: ClassPredictions) -> float:
    """Return the threshold on the probability of the second class that gives the best F1."""
    return threshold_curve(predictions.targets == 1, _probability_of_second(predictions)).best_f1()[0]


def thresholds_section(predictions: ClassPredictions, *, label: str, chosen: float | None) -> Thresholds:
    """Return precision, recall and F1 of the second class over all thresholds, and at a few of them."""
    is_positive, probability = predictions.targets == 1, _probability_of_second(predictions)
    curve = threshold_curve(is_positive, probability)
    places = np.unique(np.linspace(0, len(curve.thresholds) - 1, MAX_POINTS).round().astype(int))
    listed = sorted({*TABLE, *([chosen] if chosen is not None else [])})
    return Thresholds(
        label=label,
        chosen=chosen,
        thresholds=curve.thresholds[places].tolist(),
        precision=curve.precision[places].tolist(),
        recall=curve.recall[places].tolist(),
        f1=curve.f1[places].tolist(),
        table=[_at(threshold, is_positive, probability) for threshold in listed],
    )


def _probability_of_second(predictions: ClassPredictions) -> Float[np.ndarray, " examples"]:
    """The probability of the second class."""
    probability: Float[np.ndarray, " examples"] = np.exp(predictions.log_probs[:, 1].astype(np.float64))
    return probability


def _at(threshold: float, is_positive: Any, probability: Float[np.ndarray, " examples"]) -> dict[str, float]:
    predicted = probability >= threshold
    correct = int((predicted & is_positive).sum())
    num_predicted, num_positive = int(predicted.sum()), int(is_positive.sum())
    precision, recall = correct / max(1, num_predicted), correct / max(1, num_positive)
    f1 = 2 * correct / max(1, num_predicted + num_positive)
    accuracy = float((predicted == is_positive).mean())
    return {
        "threshold": threshold,
        "said": num_predicted,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "accuracy": accuracy,
    }

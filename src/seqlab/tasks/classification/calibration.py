"""How far a classifier's probabilities can be believed, and what thresholds would do: plain data for results
and report.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.metrics.calibration import calibration_error_items, expected_calibration_error, reliability_curve
from seqlab.metrics.items import Items
from seqlab.metrics.ranking import average_precision_items, roc_auc_items, threshold_curve
from seqlab.pages.sections.calibration import Calibration, Thresholds
from seqlab.tasks.classification.predictions import Answers

MOST_POINTS = 200
TABLE = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Thresholds in the small table, besides the best one."""


def confidence(answers: Answers) -> Float[np.ndarray, " examples"]:
    """The probability of the answer that was given."""
    sure: Float[np.ndarray, " examples"] = np.exp(answers.log_probs.max(axis=1).astype(np.float64))
    return sure


def calibration_items(answers: Answers) -> Items:
    """What the calibration error is made of."""
    return calibration_error_items(confidence(answers), answers.correct)


def calibration_section(before: Answers, after: Answers, *, temperature: float) -> Calibration:
    """The reliability curves with and without the temperature."""
    return Calibration(temperature, _curve(before), _curve(after))


def _curve(answers: Answers) -> dict[str, Any]:
    bins = reliability_curve(confidence(answers), answers.correct)
    return {
        "error": expected_calibration_error(bins),
        "nats": float(answers.nats.mean()),
        "bins": [asdict(each) for each in bins],
    }


def ranking_items(answers: Answers) -> dict[str, Items]:
    """For two classes: how well the probability of the second one puts its examples first."""
    is_positive, scores = answers.targets == 1, answers.log_probs[:, 1].astype(np.float64)
    return {
        "roc_auc": roc_auc_items(is_positive, scores),
        "average_precision": average_precision_items(is_positive, scores),
    }


def best_threshold(answers: Answers) -> float:
    """The probability of the second class from which saying it gives the highest F1."""
    return threshold_curve(answers.targets == 1, _second(answers)).best_f1()[0]


def thresholds_section(answers: Answers, *, label: str, chosen: float | None) -> Thresholds:
    """Precision, recall and F1 of the second class over all thresholds, and at a few of them."""
    is_positive, probability = answers.targets == 1, _second(answers)
    curve = threshold_curve(is_positive, probability)
    places = np.unique(np.linspace(0, len(curve.thresholds) - 1, MOST_POINTS).round().astype(int))
    wanted = sorted({*TABLE, *([chosen] if chosen is not None else [])})
    return Thresholds(
        label=label,
        chosen=chosen,
        thresholds=curve.thresholds[places].tolist(),
        precision=curve.precision[places].tolist(),
        recall=curve.recall[places].tolist(),
        f1=curve.f1[places].tolist(),
        table=[_at(threshold, is_positive, probability) for threshold in wanted],
    )


def _second(answers: Answers) -> Float[np.ndarray, " examples"]:
    """The probability of the second class."""
    probability: Float[np.ndarray, " examples"] = np.exp(answers.log_probs[:, 1].astype(np.float64))
    return probability


def _at(threshold: float, is_positive: Any, probability: Float[np.ndarray, " examples"]) -> dict[str, float]:
    said = probability >= threshold
    right = int((said & is_positive).sum())
    precision, recall = right / max(1, int(said.sum())), right / max(1, int(is_positive.sum()))
    f1 = 2 * right / max(1, int(said.sum()) + int(is_positive.sum()))
    accuracy = float((said == is_positive).mean())
    return {
        "threshold": threshold,
        "said": int(said.sum()),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "accuracy": accuracy,
    }

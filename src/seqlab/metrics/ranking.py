"""Ranking metrics: ROC AUC, average precision, and precision and recall at every threshold.

    ROC AUC           = P(score of an example of the class > score of another one), ties count one half
    average precision = Σ_n (recall_n - recall_(n-1)) · precision_n, over the thresholds from the highest down

If all examples belong to one side, the area is one half, as for chance, and the average precision is 0.

Papers: Hanley & McNeil 1982, "The Meaning and Use of the Area under a ROC Curve"; Davis & Goadrich 2006, "The
Relationship Between Precision-Recall and ROC Curves".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.items import Indices, Items

Scores = Float[np.ndarray, " examples"]
IsPositive = Bool[np.ndarray, " examples"]
Counts = Float[np.ndarray, " thresholds"]


@dataclass(frozen=True)
class ThresholdCurve:
    """Precision and recall for each threshold, from the highest score down; an example is positive if its
    score is at least the threshold.
    """

    thresholds: Float[np.ndarray, " thresholds"]
    precision: Float[np.ndarray, " thresholds"]
    recall: Float[np.ndarray, " thresholds"]

    @property
    def f1(self) -> Float[np.ndarray, " thresholds"]:
        total = self.precision + self.recall
        f1: Float[np.ndarray, " thresholds"] = np.divide(
            2 * self.precision * self.recall, total, out=np.zeros(len(total)), where=total > 0
        )
        return f1

    def best_f1(self) -> tuple[float, float]:
        """The threshold with the highest F1, and that F1; ties go to the highest threshold."""
        index = int(self.f1.argmax())
        return float(self.thresholds[index]), float(self.f1[index])


def threshold_curve(is_positive: IsPositive, scores: Scores) -> ThresholdCurve:
    """Precision and recall at every score that occurs."""
    thresholds, true_positives, num_predicted = _threshold_counts(is_positive, scores)
    return ThresholdCurve(
        thresholds, true_positives / num_predicted, true_positives / max(1, is_positive.sum())
    )


def roc_auc(is_positive: IsPositive, scores: Scores) -> float:
    """The probability that an example of the class scores higher than one of another class."""
    return roc_auc_items(is_positive, scores).full_score()


def average_precision(is_positive: IsPositive, scores: Scores) -> float:
    """The area under precision over recall, as steps."""
    return average_precision_items(is_positive, scores).full_score()


def roc_auc_items(is_positive: IsPositive, scores: Scores) -> Items:
    """The items of the ROC AUC."""
    return _RankedItems(is_positive, scores, _roc_auc)


def average_precision_items(is_positive: IsPositive, scores: Scores) -> Items:
    """The items of the average precision."""
    return _RankedItems(is_positive, scores, _average_precision)


class _RankedItems(Items):
    """Examples sorted once by score; a selection is the count of each example."""

    def __init__(
        self, is_positive: IsPositive, scores: Scores, score: Callable[[Counts, Counts], float]
    ) -> None:
        self.num_items = len(scores)
        order = np.argsort(-scores, kind="stable")
        self._rank_of = np.argsort(order, kind="stable")
        self._is_positive, self._ends, self._score = is_positive[order], _last_of_ties(scores[order]), score

    def value(self, indices: Indices) -> float:
        counts = np.bincount(self._rank_of[indices], minlength=self.num_items)
        true_positives, num_predicted = (
            np.cumsum(counts * self._is_positive)[self._ends],
            np.cumsum(counts)[self._ends],
        )
        return self._score(true_positives.astype(float), num_predicted.astype(float))


def _last_of_ties(ordered: Scores) -> Int[np.ndarray, " thresholds"]:
    """The last index of each distinct score, since examples with equal scores are grouped."""
    ends: Int[np.ndarray, " thresholds"] = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return ends


def _threshold_counts(is_positive: IsPositive, scores: Scores) -> tuple[Counts, Counts, Counts]:
    """For each threshold from the highest down: the threshold, the number of true positives, and the
    number of predicted positives.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, positive = scores[order], is_positive[order]
    ends = _last_of_ties(ordered)
    return ordered[ends].astype(float), np.cumsum(positive)[ends].astype(float), (ends + 1).astype(float)


def _roc_auc(true_positives: Counts, num_predicted: Counts) -> float:
    false_positives = num_predicted - true_positives
    if not len(true_positives) or true_positives[-1] == 0 or false_positives[-1] == 0:
        return 0.5
    return float(
        np.trapezoid(np.append(0.0, true_positives), np.append(0.0, false_positives))
        / (true_positives[-1] * false_positives[-1])
    )


def _average_precision(true_positives: Counts, num_predicted: Counts) -> float:
    if not len(true_positives) or true_positives[-1] == 0:
        return 0.0
    recall_gain = np.diff(true_positives, prepend=0.0) / true_positives[-1]
    return float(
        (
            recall_gain
            * np.divide(
                true_positives, num_predicted, out=np.zeros(len(true_positives)), where=num_predicted > 0
            )
        ).sum()
    )

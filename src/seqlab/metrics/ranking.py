"""How well scores put the examples of one class before all others, and what each threshold would give.

    ROC AUC           = P(score of an example of the class > score of another one), ties count one half
    average precision = Σ_n (recall_n - recall_(n-1)) · precision_n, over the thresholds from the highest down

Where all examples are on one side there is nothing to put first: the area is one half, as for chance, and the average precision 0.

Papers: Hanley & McNeil 1982, "The Meaning and Use of the Area under a ROC Curve"; Davis & Goadrich 2006, "The Relationship Between
Precision-Recall and ROC Curves".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.items import Chosen, Items

Scores = Float[np.ndarray, " examples"]
IsPositive = Bool[np.ndarray, " examples"]
Counts = Float[np.ndarray, " thresholds"]


@dataclass(frozen=True)
class ThresholdCurve:
    """What each threshold gives, from the highest score down: an example counts as positive when its score is at least the threshold."""

    thresholds: Float[np.ndarray, " thresholds"]
    precision: Float[np.ndarray, " thresholds"]
    recall: Float[np.ndarray, " thresholds"]

    @property
    def f1(self) -> Float[np.ndarray, " thresholds"]:
        both = self.precision + self.recall
        f1: Float[np.ndarray, " thresholds"] = np.divide(2 * self.precision * self.recall, both, out=np.zeros(len(both)), where=both > 0)
        return f1

    def best_f1(self) -> tuple[float, float]:
        """The threshold with the highest F1 and that F1; of equal ones the highest threshold."""
        place = int(self.f1.argmax())
        return float(self.thresholds[place]), float(self.f1[place])


def threshold_curve(is_positive: IsPositive, scores: Scores) -> ThresholdCurve:
    """Precision and recall at every score that occurs."""
    thresholds, right, taken = _taken(is_positive, scores)
    return ThresholdCurve(thresholds, right / taken, right / max(1, is_positive.sum()))


def roc_auc(is_positive: IsPositive, scores: Scores) -> float:
    """The chance that an example of the class scores above another one."""
    return roc_aucs(is_positive, scores).whole()


def average_precision(is_positive: IsPositive, scores: Scores) -> float:
    """The area under precision over recall, as steps."""
    return average_precisions(is_positive, scores).whole()


def roc_aucs(is_positive: IsPositive, scores: Scores) -> Items:
    """What the ROC AUC is made of."""
    return _Ranked(is_positive, scores, _area)


def average_precisions(is_positive: IsPositive, scores: Scores) -> Items:
    """What the average precision is made of."""
    return _Ranked(is_positive, scores, _average_precision)


class _Ranked(Items):
    """Examples in the order of their scores, which are sorted once: a choice of them is how often each comes."""

    def __init__(self, is_positive: IsPositive, scores: Scores, score: Callable[[Counts, Counts], float]) -> None:
        self.num_items = len(scores)
        order = np.argsort(-scores, kind="stable")
        self._place_of = np.argsort(order, kind="stable")
        self._is_positive, self._ends, self._score = is_positive[order], _ends(scores[order]), score

    def value(self, chosen: Chosen) -> float:
        times = np.bincount(self._place_of[chosen], minlength=self.num_items)
        right, taken = np.cumsum(times * self._is_positive)[self._ends], np.cumsum(times)[self._ends]
        return self._score(right.astype(float), taken.astype(float))


def _ends(ordered: Scores) -> Int[np.ndarray, " thresholds"]:
    """The last place of each score: examples with equal scores are taken together."""
    ends: Int[np.ndarray, " thresholds"] = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return ends


def _taken(is_positive: IsPositive, scores: Scores) -> tuple[Counts, Counts, Counts]:
    """At each threshold from the highest down: the threshold, how many of the class are taken, how many are taken at all."""
    order = np.argsort(-scores, kind="stable")
    ordered, positive = scores[order], is_positive[order]
    ends = _ends(ordered)
    return ordered[ends].astype(float), np.cumsum(positive)[ends].astype(float), (ends + 1).astype(float)


def _area(right: Counts, taken: Counts) -> float:
    wrong = taken - right
    if not len(right) or right[-1] == 0 or wrong[-1] == 0:
        return 0.5
    return float(np.trapezoid(np.append(0.0, right), np.append(0.0, wrong)) / (right[-1] * wrong[-1]))


def _average_precision(right: Counts, taken: Counts) -> float:
    if not len(right) or right[-1] == 0:
        return 0.0
    gained = np.diff(right, prepend=0.0) / right[-1]
    return float((gained * np.divide(right, taken, out=np.zeros(len(right)), where=taken > 0)).sum())

"""Scores where an example may have several labels, or none: every label is a yes or no of its own.

micro-F1        = 2 Σ right / (Σ predicted + Σ present)      over all labels together, so that frequent ones count more
macro-F1        = mean over labels of their own F1           each label that is true or said somewhere counts the same
subset accuracy = share of examples whose labels are all right
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.classification import ClassScores, scores_from_sums
from seqlab.metrics.items import Sums, macro_f1_of_sums, means, ratio_or_nothing
from seqlab.metrics.ranking import threshold_curve

Decisions = Bool[np.ndarray, "examples labels"]


def label_scores(truth: Decisions, predicted: Decisions) -> ClassScores:
    """Precision, recall and F1 of every label."""
    return scores_from_sums(_sum(truth & predicted), predicted=_sum(predicted), present=_sum(truth))


def micro_f1s(truth: Decisions, predicted: Decisions) -> Sums:
    """What the micro-F1 is made of.

    >>> micro_f1s(np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])).whole()
    0.6666666666666666
    """
    table = np.stack([2.0 * (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)], axis=1)
    return Sums(np.arange(len(table)), table, ratio_or_nothing)


def macro_f1s(truth: Decisions, predicted: Decisions) -> Sums:
    """What the macro-F1 is made of: for each label whether it is right, said, and true."""
    table = np.concatenate([truth & predicted, predicted, truth], axis=1).astype(float)
    return Sums(np.arange(len(table)), table, macro_f1_of_sums)


def subset_accuracies(truth: Decisions, predicted: Decisions) -> Sums:
    """What the subset accuracy is made of."""
    return means((truth == predicted).all(axis=1).astype(float))


def best_thresholds(truth: Decisions, probabilities: Float[np.ndarray, "examples labels"], *, otherwise: float = 0.5) -> Float[np.ndarray, " labels"]:
    """For every label the probability from which it is said, with the highest F1 on these examples.

    It lies in the middle between the last example taken and the first one left out. A label without an example keeps the usual threshold.
    Paper: Lipton et al. 2014, "Optimal Thresholding of Classifiers to Maximize F1 Measure", arXiv:1402.1892.
    """
    found = np.full(truth.shape[1], otherwise)
    for label in np.flatnonzero(truth.any(axis=0)):
        curve = threshold_curve(truth[:, label], probabilities[:, label].astype(np.float64))
        place = int(curve.f1.argmax())
        below = curve.thresholds[place + 1] if place + 1 < len(curve.thresholds) else 0.0
        found[label] = (curve.thresholds[place] + below) / 2
    return found


def _sum(decisions: Decisions) -> Int[np.ndarray, " labels"]:
    sums: Int[np.ndarray, " labels"] = decisions.sum(axis=0)
    return sums

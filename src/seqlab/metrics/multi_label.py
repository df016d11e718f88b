"""Multi-label scores: an example may have several labels or none, and every label is a separate binary
decision.

micro-F1        = 2 Σ correct / (Σ predicted + Σ present)    over all labels together, so frequent labels count more
macro-F1        = mean of the F1 of the labels               every label that is present or predicted counts the same
subset accuracy = share of examples whose labels are all correct
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.classification import ClassScores, class_scores_from_counts
from seqlab.metrics.items import SumItems, macro_f1_from_sums, mean_items, ratio_or_zero
from seqlab.metrics.ranking import threshold_curve

Decisions = Bool[np.ndarray, "examples labels"]


def label_scores(targets: Decisions, predicted: Decisions) -> ClassScores:
    """Precision, recall and F1 of every label."""
    return class_scores_from_counts(
        _sum(targets & predicted), predicted=_sum(predicted), support=_sum(targets)
    )


def micro_f1_items(targets: Decisions, predicted: Decisions) -> SumItems:
    """The items of the micro-F1.

    >>> micro_f1_items(np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])).full_score()
    0.6666666666666666
    """
    table = np.stack(
        [2.0 * (targets & predicted).sum(axis=1), targets.sum(axis=1) + predicted.sum(axis=1)], axis=1
    )
    return SumItems(np.arange(len(table)), table, ratio_or_zero)


def multilabel_macro_f1_items(targets: Decisions, predicted: Decisions) -> SumItems:
    """The items of the macro-F1: for each label whether it is correct, predicted and true."""
    table = np.concatenate([targets & predicted, predicted, targets], axis=1).astype(float)
    return SumItems(np.arange(len(table)), table, macro_f1_from_sums)


def subset_accuracy_items(targets: Decisions, predicted: Decisions) -> SumItems:
    """The items of the subset accuracy."""
    return mean_items((targets == predicted).all(axis=1).astype(float))


def best_thresholds(
    targets: Decisions, probabilities: Float[np.ndarray, "examples labels"], *, default: float = 0.5
) -> Float[np.ndarray, " labels"]:
    """For every label the probability threshold with the highest F1 on these examples.

    It is the midpoint between the last example above and the first one below. A label without examples keeps
    the default threshold. Paper: Lipton et al. 2014, "Optimal Thresholding of Classifiers to Maximize F1
    Measure", arXiv:1402.1892.
    """
    thresholds = np.full(targets.shape[1], default)
    for label in np.flatnonzero(targets.any(axis=0)):
        curve = threshold_curve(targets[:, label], probabilities[:, label].astype(np.float64))
        index = int(curve.f1.argmax())
        next_threshold = curve.thresholds[index + 1] if index + 1 < len(curve.thresholds) else 0.0
        thresholds[label] = (curve.thresholds[index] + next_threshold) / 2
    return thresholds


def _sum(decisions: Decisions) -> Int[np.ndarray, " labels"]:
    sums: Int[np.ndarray, " labels"] = decisions.sum(axis=0)
    return sums

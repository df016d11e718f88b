"""Scores of a classifier: accuracy, confusion, precision, recall and F1 of every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.core.errors import UsageError

# (targets, predicted): row i, column j counts the examples of class i that were predicted as class j.
ConfusionCounts = Int[np.ndarray, "classes classes"]
PerClass = Float[np.ndarray, "*batch classes"]


@dataclass(frozen=True)
class ClassScores:
    """One number for each class; a score whose denominator is 0 is 0.

    precision = right / predicted,  recall = right / present,  f1 = 2 right / (predicted + present)
    """

    precision: PerClass
    recall: PerClass
    f1: PerClass


def accuracy(targets: Int[np.ndarray, " examples"], predicted: Int[np.ndarray, " examples"]) -> float:
    """The fraction of examples that were predicted correctly.

    >>> accuracy(np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0]))
    0.75
    """
    _check_not_empty(len(targets))
    return float(np.mean(targets == predicted))


def mean_batch_accuracy(correct: Bool[np.ndarray, " examples"], *, batch_size: int) -> float:
    """The mean of the accuracies of consecutive batches, the number that many training loops print.

    It is not the accuracy if the last batch is smaller, since the examples in that batch have more weight.
    Provided for comparison with the exact value.

    >>> mean_batch_accuracy(np.array([True, True, True, True, False]), batch_size=4)
    0.5
    """
    _check_not_empty(len(correct))
    if batch_size < 1:
        raise UsageError(
            f"cannot average over batches of {batch_size} examples.", cure="batch_size must be at least 1."
        )
    starts = np.arange(0, len(correct), batch_size)
    sizes = np.minimum(batch_size, len(correct) - starts)
    return float(np.mean(np.add.reduceat(correct.astype(np.int64), starts) / sizes))


def confusion_counts(
    targets: Int[np.ndarray, " examples"], predicted: Int[np.ndarray, " examples"], *, num_classes: int
) -> ConfusionCounts:
    """How often each class (row) was predicted as each class (column)."""
    for name, ids in (("targets", targets), ("predicted", predicted)):
        outside = (ids < 0) | (ids >= num_classes)
        if outside.any():
            raise UsageError(
                f"{name} contains class {ids[outside][0]}, but there are {num_classes} classes.",
                cure=f"Class ids range from 0 to {num_classes - 1}.",
            )
    pairs = targets.astype(np.int64) * num_classes + predicted
    return np.bincount(pairs, minlength=num_classes * num_classes).reshape(num_classes, num_classes)


def class_scores(counts: ConfusionCounts) -> ClassScores:
    """Precision, recall and F1 of every class, from a confusion matrix."""
    correct = np.diagonal(counts)
    return class_scores_from_counts(correct, predicted=counts.sum(axis=0), support=counts.sum(axis=1))


def macro_f1(counts: ConfusionCounts) -> float:
    """The unweighted mean F1 of the classes; a class that is neither present nor predicted is excluded."""
    return float(
        macro_f1_from_counts(
            np.diagonal(counts)[None], predicted=counts.sum(axis=0)[None], support=counts.sum(axis=1)[None]
        )[0]
    )


def macro_f1_from_counts(
    correct: Int[np.ndarray, "sets classes"],
    *,
    predicted: Int[np.ndarray, "sets classes"],
    support: Int[np.ndarray, "sets classes"],
) -> Float[np.ndarray, " sets"]:
    """For each set of examples the mean F1 of the classes that are present or predicted, from three counts
    for each class; 0 if there are none.
    """
    num_counted = (predicted + support > 0).sum(axis=1)  # (sets,)
    macro_f1s: Float[np.ndarray, " sets"] = class_scores_from_counts(
        correct, predicted=predicted, support=support
    ).f1.sum(axis=1) / np.maximum(num_counted, 1)
    return macro_f1s


def class_scores_from_counts(
    correct: Int[np.ndarray, "*batch classes"],
    *,
    predicted: Int[np.ndarray, "*batch classes"],
    support: Int[np.ndarray, "*batch classes"],
) -> ClassScores:
    """The scores from three counts for each class, for one set of examples or, along leading axes, for
    many.
    """
    return ClassScores(
        precision=_ratio(correct, predicted),
        recall=_ratio(correct, support),
        f1=_ratio(2 * correct, predicted + support),
    )


def _ratio(
    numerator: Int[np.ndarray, "*batch classes"], denominator: Int[np.ndarray, "*batch classes"]
) -> PerClass:
    ratio: PerClass = np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)
    return ratio


def _check_not_empty(num_examples: int) -> None:
    if num_examples == 0:
        raise UsageError("there are no examples to score.", cure="Pass at least one example.")

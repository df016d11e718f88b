"""Which labels are probably wrong, by the predictions of a model that has not seen them.

An example is suspect if the model is as sure of another class as it usually is of examples that carry that class:

    threshold_j = mean of p(j | x) over the examples labeled j
    suspect     : p(j | x) >= clip(threshold_j, LEAST, ENOUGH) for the predicted class j ≠ label, and
                  p(label | x) <= MOST

Paper: Northcutt, Jiang & Chuang 2021, "Confident Learning: Estimating Uncertainty in Dataset Labels",
arXiv:1911.00068. The constants are ours: a weak model has low thresholds, and a model that is almost certain of most
examples would doubt only half of the wrong ones.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

LEAST, ENOUGH = 0.8, 0.9
"""The lower and the upper bound of a class's threshold."""
MOST = 0.1
"""Maximum probability of the label itself for it to be suspect."""
FEWEST = 5
"""Minimum number of examples of a class to compute its threshold."""


def label_error_rows(
    targets: Int[np.ndarray, " examples"], log_probs: Float[np.ndarray, "examples classes"]
) -> Int[np.ndarray, " suspects"]:
    """The suspect examples, the most certain first."""
    if not len(targets):
        return np.zeros(0, np.int64)
    probabilities = np.exp(log_probs.astype(np.float64))
    rows = np.arange(len(targets))
    predicted = probabilities.argmax(axis=1)
    thresholds = class_thresholds(targets, probabilities)
    confidence, label_confidence = probabilities[rows, predicted], probabilities[rows, targets]
    is_suspect = (predicted != targets) & (confidence >= thresholds[predicted]) & (label_confidence <= MOST)
    suspects = np.flatnonzero(is_suspect)
    order = np.argsort(label_confidence[suspects] - confidence[suspects], kind="stable")
    return suspects[order].astype(np.int64)


def class_thresholds(
    targets: Int[np.ndarray, " examples"], probabilities: Float[np.ndarray, "examples classes"]
) -> Float[np.ndarray, " classes"]:
    """The mean confidence in each class where it is the label, between LEAST and ENOUGH; infinite for a class with
    too few examples.
    """
    num_classes = probabilities.shape[1]
    thresholds = np.full(num_classes, np.inf)
    for label in range(num_classes):
        of_class = targets == label
        if of_class.sum() >= FEWEST:
            thresholds[label] = np.clip(probabilities[of_class, label].mean(), LEAST, ENOUGH)
    return thresholds

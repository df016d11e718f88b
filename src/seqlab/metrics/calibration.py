"""Calibration of probabilities: expected calibration error and temperature scaling.

Of all predictions with probability 0.8, eight of ten should be correct.

    ECE         = Σ_bins (examples in the bin / all) · |accuracy in the bin - mean probability in the bin|
    temperature = argmin_T of the mean of -Σ_class target(class) log softmax(logits / T)[class]

Dividing all logits by one number changes no prediction, only its confidence. The mean is convex in 1 / T, so
Newton's method with bracketing finds its minimum. With n examples a target gets 1 - 1 / (n + 2), as if one
example had been wrong: a few correct examples do not prove that a model never errs.

Papers: Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv:1706.04599, sections 2 and 4.2;
bins of equal width: Naeini et al. 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning";
targets below 1: Platt 1999, "Probabilistic Outputs for Support Vector Machines", section 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.items import Statistics, SumItems

BINS = 10
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.05, 20.0
"""Bounds of the temperature: if every prediction is correct, the optimum would be 0."""
TOLERANCE = 1e-10
MAX_ITERATIONS = 100

ClassLogProbs = Float[np.ndarray, "examples classes"]


@dataclass(frozen=True)
class ReliabilityBin:
    """Examples of similar confidence: their mean confidence and their accuracy."""

    count: int
    confidence: float
    accuracy: float


def reliability_curve(
    confidence: Float[np.ndarray, " examples"], correct: Bool[np.ndarray, " examples"], *, bins: int = BINS
) -> list[ReliabilityBin]:
    """The examples in bins of equal width by the probability of the prediction; empty bins are dropped."""
    bin_indices = _bin_indices(confidence, bins)
    curve = []
    for bin_index in np.unique(bin_indices):
        in_bin = bin_indices == bin_index
        curve.append(
            ReliabilityBin(int(in_bin.sum()), float(confidence[in_bin].mean()), float(correct[in_bin].mean()))
        )
    return curve


def expected_calibration_error(curve: Sequence[ReliabilityBin]) -> float:
    """The mean gap between confidence and accuracy, weighted by the number of examples in each bin.

    >>> expected_calibration_error([ReliabilityBin(30, 0.9, 0.8), ReliabilityBin(10, 0.6, 0.6)])
    0.075
    """
    total = sum(entry.count for entry in curve)
    return round(sum(entry.count * abs(entry.accuracy - entry.confidence) for entry in curve) / total, 12)


def calibration_error_items(
    confidence: Float[np.ndarray, " examples"], correct: Bool[np.ndarray, " examples"]
) -> SumItems:
    """The items of the expected calibration error: the contribution of each example to the gap of its bin."""
    table = np.zeros((len(confidence), BINS + 1))
    table[np.arange(len(confidence)), _bin_indices(confidence, BINS)] = (
        correct - confidence
    )  # a bin's gap is the sum of the gaps in it
    table[:, BINS] = 1
    return SumItems(np.arange(len(table)), table, _calibration_error_from_sums)


def _calibration_error_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    gaps: Statistics = np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS]
    return gaps


def fit_temperature(log_probs: ClassLogProbs, targets: Int[np.ndarray, " examples"]) -> float:
    """The temperature with the lowest loss on held-out examples.

    With β = 1 / T the derivative of an example's loss is E[z] - Σ target · z and the second one Var[z], both
    under softmax(β z).
    """
    scores = log_probs.astype(
        np.float64
    )  # log-probabilities serve as logits: they differ by a constant per example
    target_scores = (_smoothed_targets(targets, num_classes=scores.shape[1]) * scores).sum(
        axis=1
    )  # (examples,)
    low, high = 1 / MAX_TEMPERATURE, 1 / MIN_TEMPERATURE
    inverse = 1.0
    for _ in range(MAX_ITERATIONS):
        slope, curvature = _derivatives(scores, target_scores, inverse)
        low, high = (inverse, high) if slope < 0 else (low, inverse)
        step = inverse - slope / curvature if curvature > 0 else 0.0
        next_inverse = step if low < step < high else (low + high) / 2
        if abs(next_inverse - inverse) < TOLERANCE:
            break
        inverse = next_inverse
    return 1 / inverse


def apply_temperature(log_probs: ClassLogProbs, temperature: float) -> ClassLogProbs:
    """log softmax(logits / T). The order of the classes does not change."""
    scaled = log_probs.astype(np.float64) / temperature
    highest = scaled.max(axis=1, keepdims=True)
    softened: ClassLogProbs = scaled - highest - np.log(np.exp(scaled - highest).sum(axis=1, keepdims=True))
    return softened


def _smoothed_targets(
    targets: Int[np.ndarray, " examples"], *, num_classes: int
) -> Float[np.ndarray, "examples classes"]:
    """Smoothed target distribution: almost all probability for the target, a little for the others."""
    off_target = 1 / (len(targets) + 2)
    targets_smoothed = np.full((len(targets), num_classes), off_target / max(1, num_classes - 1))
    targets_smoothed[np.arange(len(targets)), targets] = 1 - off_target
    return targets_smoothed


def _derivatives(
    scores: Float[np.ndarray, "examples classes"],
    target_scores: Float[np.ndarray, " examples"],
    inverse: float,
) -> tuple[float, float]:
    probabilities = np.exp(apply_temperature(scores, 1 / inverse))
    mean = (probabilities * scores).sum(axis=1)
    variance = (probabilities * scores**2).sum(axis=1) - mean**2
    return float((mean - target_scores).mean()), float(variance.mean())


def _bin_indices(confidence: Float[np.ndarray, " examples"], bins: int) -> Int[np.ndarray, " examples"]:
    """Bins include their upper end: 0.1 belongs to the first of ten."""
    bin_indices: Int[np.ndarray, " examples"] = np.clip(
        np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1
    )
    return bin_indices

"""Whether temperature scaling helps: chosen by cross-validation on held-out examples; 1 if it does not.

A temperature that is fitted and judged on the same examples always looks good. Here every tenth of the examples is
scored with the temperature of the other nine; the temperature of all of them is kept only if both the loss and the
expected calibration error of these held-out scores are lower than without one.

Paper: Stone 1974, "Cross-Validatory Choice and Assessment of Statistical Predictions".
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from seqlab.metrics.calibration import (
    ClassLogProbs,
    apply_temperature,
    calibration_error_items,
    fit_temperature,
)

FOLDS = 10
MIN_EXAMPLES = 50
"""Minimum number of examples to fit a temperature: five in every fold."""
NO_TEMPERATURE = 1.0


def choose_temperature(log_probs: ClassLogProbs, targets: Int[np.ndarray, " examples"]) -> float:
    """The temperature to use, given the uncalibrated log-probabilities of held-out examples."""
    if len(targets) < MIN_EXAMPLES:
        return NO_TEMPERATURE
    scaled = _cross_validated(log_probs, targets)
    helps = _loss(scaled, targets) < _loss(log_probs, targets) and (
        _calibration_error(scaled, targets) < _calibration_error(log_probs, targets)
    )
    return fit_temperature(log_probs, targets) if helps else NO_TEMPERATURE


def _cross_validated(log_probs: ClassLogProbs, targets: Int[np.ndarray, " examples"]) -> ClassLogProbs:
    """Every example at the temperature that the other folds have chosen. Neighbors are in different folds."""
    scaled = np.empty(log_probs.shape, np.float64)
    folds = np.arange(len(targets)) % FOLDS
    for fold in range(FOLDS):
        temperature = fit_temperature(log_probs[folds != fold], targets[folds != fold])
        scaled[folds == fold] = apply_temperature(log_probs[folds == fold], temperature)
    return scaled


def _loss(log_probs: ClassLogProbs, targets: Int[np.ndarray, " examples"]) -> float:
    return -float(log_probs[np.arange(len(targets)), targets].mean(dtype=np.float64))


def _calibration_error(log_probs: ClassLogProbs, targets: Int[np.ndarray, " examples"]) -> float:
    confidence = np.exp(log_probs.max(axis=1).astype(np.float64))
    return calibration_error_items(confidence, log_probs.argmax(axis=1) == targets).full_score()

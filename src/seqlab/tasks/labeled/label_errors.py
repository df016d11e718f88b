"""Find labels that are probably wrong: what the tasks share.

Scored examples are judged by the model, which has not been trained on them. Training and validation examples are judged
by cross-validated naive Bayes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.calibration import apply_temperature, fit_temperature
from seqlab.pages.sections.label_errors import LabelError, LabelErrors

SHOWN = 20
MOST_ROWS = 20_000
"""Maximum number of training rows to judge, which takes a second or two."""
THIS_MODEL, NAIVE_BAYES = "this model", "naive Bayes"
LEAST_LOG_PROB = -70.0
"""A class without training examples has probability 0, with which a temperature cannot be fitted."""


def calibrated(
    log_probs: Float[np.ndarray, "examples classes"], targets: Int[np.ndarray, " examples"]
) -> Float[np.ndarray, "examples classes"]:
    """Correct the overconfidence of naive Bayes with a temperature."""
    finite = np.maximum(log_probs, LEAST_LOG_PROB).astype(np.float32)
    return apply_temperature(finite, fit_temperature(finite, targets)).astype(np.float32)


def most_certain(errors: Iterable[LabelError], *, found: int) -> LabelErrors:
    """The section with the errors that are the most certain. found: how many there are."""
    ordered = sorted(errors, key=lambda error: -error.probability)
    return LabelErrors(ordered[:SHOWN], found=found)

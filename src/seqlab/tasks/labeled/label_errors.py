"""Labels that are probably wrong: what the tasks share.

What is scored is judged by the model, which has not seen it. Training and validation data are judged by naive Bayes in
cross-validation: each example by a fit on others.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.calibration import apply_temperature, fit_temperature
from seqlab.pages.sections.label_errors import LabelError, LabelErrors

SHOWN = 20
MOST_ROWS = 20_000
"""Training rows that are judged: a second or two of work."""
THIS_MODEL, NAIVE_BAYES = "this model", "naive Bayes"
LEAST_LOG_PROB = -70.0
"""A class without training examples has probability 0, with which a temperature cannot be fitted."""


def calibrated(
    log_probs: Float[np.ndarray, "examples classes"], targets: Int[np.ndarray, " examples"]
) -> Float[np.ndarray, "examples classes"]:
    """Naive Bayes is far too sure of itself, which a temperature corrects."""
    finite = np.maximum(log_probs, LEAST_LOG_PROB).astype(np.float32)
    return apply_temperature(finite, fit_temperature(finite, targets)).astype(np.float32)


def most_certain(errors: Iterable[LabelError], *, found: int) -> LabelErrors:
    """The section with the errors that are the most certain. found: how many there are."""
    ordered = sorted(errors, key=lambda error: -error.probability)
    return LabelErrors(ordered[:SHOWN], found=found)

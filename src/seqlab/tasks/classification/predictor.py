"""Predict the class of new sequences."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqlab.metrics.calibration import apply_temperature
from seqlab.tasks.classification.calibration import ClassificationCalibration
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.labeled.whole_sequence import WholeSequencePredictor
from seqlab.tasks.prediction import Prediction


class ClassificationPredictor(WholeSequencePredictor[ClassificationCodec, ClassificationCalibration]):
    """Predicts the most probable class, and the probabilities of the others."""

    def decode(self, text: str, output: Float[np.ndarray, " classes"], *, top: int) -> Prediction:
        log_probs = apply_temperature(output[np.newaxis], self.calibration.temperature)[0]  # (classes,)
        probabilities = np.exp(log_probs)
        ranking = [
            (self.codec.labels.decode(label), float(probabilities[label]))
            for label in np.argsort(-probabilities, kind="stable")[:top].tolist()
        ]
        return Prediction(text, *ranking[0], ranking)

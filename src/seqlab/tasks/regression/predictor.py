"""Predict a number for new sequences."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqlab.tasks.labeled.whole_sequence import WholeSequencePredictor
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.regression.calibration import COVERAGE, RegressionCalibration
from seqlab.tasks.regression.codec import RegressionCodec
from seqlab.tasks.regression.scores import number_text


class RegressionPredictor(WholeSequencePredictor[RegressionCodec, RegressionCalibration]):
    """Predicts a number, and an interval that covers 90% of the true values on the validation split."""

    def decode(self, text: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        number = float(self.codec.labels.decode(output)[0])
        half_width, below = self.calibration.half_width, (1 - COVERAGE) / 2
        bounds = (
            [] if half_width is None else [(number - half_width, below), (number + half_width, 1 - below)]
        )
        ranking = [(number_text(bound), share) for bound, share in bounds]
        return Prediction(text, number_text(number), None, ranking)

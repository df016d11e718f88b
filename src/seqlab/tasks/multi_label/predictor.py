"""Predict the labels of new sequences."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.tasks.labeled.whole_sequence import WholeSequencePredictor
from seqlab.tasks.multi_label.calibration import MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import LabelPredictions, sigmoid
from seqlab.tasks.prediction import Prediction


class MultiLabelPredictor(WholeSequencePredictor[MultiLabelCodec, MultiLabelCalibration]):
    """Predicts all labels that reach their threshold, and the probability of every label.

    The probability of an answer is the product over all labels.
    """

    def __init__(self, codec: MultiLabelCodec, model: nn.Module, calibration: MultiLabelCalibration) -> None:
        super().__init__(codec, model, calibration)
        self._thresholds = calibration.as_array(codec.labels.names)

    def decode(self, text: str, output: Float[np.ndarray, " labels"], *, top: int) -> Prediction:
        unknown = np.zeros((1, len(output)), dtype=bool)
        predictions = LabelPredictions(unknown, sigmoid(output[np.newaxis]), self._thresholds)
        probabilities, predicted = predictions.probabilities[0], predictions.predicted
        order = np.argsort(-probabilities, kind="stable").tolist()
        ranking = [(self.codec.labels.decode(label), float(probabilities[label])) for label in order]
        answer = self.codec.join_labels(predicted[0])
        return Prediction(text, answer, predictions.probability_of(predicted)[0], ranking)

"""The predicted number for every example of a split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.tasks.labeled.outputs import outputs_of
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.regression.codec import RegressionCodec


@dataclass(frozen=True)
class NumberPredictions:
    """The true and the predicted numbers, in the order of the file."""

    truth: Float[np.ndarray, " examples"]
    predicted: Float[np.ndarray, " examples"]

    @property
    def distances(self) -> Float[np.ndarray, " examples"]:
        """How far every prediction is from the truth."""
        return np.abs(self.truth - self.predicted)


def predict_numbers(model: nn.Module, codec: RegressionCodec, split: LabeledSplit) -> NumberPredictions:
    """Run the network over a split."""
    outputs = outputs_of(model, codec, split)[:, 0]
    return NumberPredictions(codec.truth(split.store), codec.labels.decode(outputs))


def number_text(number: float) -> str:
    """
    >>> number_text(3.14159), number_text(1234567.8), number_text(0.000012345)
    ('3.142', '1.235e+06', '1.234e-05')
    """
    return f"{number:.4g}"

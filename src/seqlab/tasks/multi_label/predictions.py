"""The predictions of a multi-label model for a split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import nn

from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence import outputs_of
from seqlab.tasks.multi_label.calibration import MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec

MIN_PROBABILITY = 1e-12

LabelTable = Bool[np.ndarray, "examples labels"]
Probabilities = Float[np.ndarray, "examples labels"]


@dataclass(frozen=True)
class LabelPredictions:
    """The true labels, the predicted probabilities, and the threshold of every label."""

    truth: LabelTable
    probabilities: Probabilities
    thresholds: Float[np.ndarray, " labels"]

    @property
    def predicted(self) -> LabelTable:
        return self.probabilities >= self.thresholds

    @property
    def nats(self) -> Float[np.ndarray, " examples"]:
        """Binary cross-entropy of every example: the mean over labels of -log of the probability of the
        truth.
        """
        of_truth = np.where(self.truth, self.probabilities, 1 - self.probabilities)
        nats: Float[np.ndarray, " examples"] = -np.log(np.maximum(of_truth, MIN_PROBABILITY)).mean(axis=1)
        return nats

    def probability_of(self, decisions: LabelTable) -> list[float]:
        """Return the probability that all decisions on an example are correct: the product over labels, as
        if they were independent given the text.
        """
        product: list[float] = (
            np.where(decisions, self.probabilities, 1 - self.probabilities).prod(axis=1).tolist()
        )
        return product

    def worst_mistakes(self, count: int) -> Int[np.ndarray, " mistakes"]:
        """Return the examples with wrong or missing labels whose truth is least probable, worst first."""
        wrong = np.flatnonzero((self.predicted != self.truth).any(axis=1))
        return wrong[np.argsort(-self.nats[wrong], kind="stable")][:count]


def predict_labels(
    model: nn.Module, codec: MultiLabelCodec, split: LabeledSplit, calibration: MultiLabelCalibration
) -> LabelPredictions:
    """Run the network over a split."""
    probabilities = sigmoid(outputs_of(model, codec, split))
    return LabelPredictions(codec.truth(split.store), probabilities, calibration.as_array(codec.labels.names))


def sigmoid(logits: Float[np.ndarray, "examples labels"]) -> Probabilities:
    """1 / (1 + exp(-logits)) without overflow."""
    probabilities: Probabilities = np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))
    return probabilities

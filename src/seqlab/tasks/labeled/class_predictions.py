"""Predicted classes of examples or words, and their report sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.calibration import apply_temperature
from seqlab.metrics.classification import class_scores, confusion_counts
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import ConfusionMatrix, PerClassScores
from seqlab.tasks.evaluation import class_lines
from seqlab.tasks.labeled.split import LabeledSplit

Classes = Int[np.ndarray, " examples"]


@dataclass(frozen=True)
class ClassPredictions:
    """The true classes and the predicted log-probabilities, in file order."""

    targets: Classes
    log_probs: Float[np.ndarray, "examples classes"]
    decoded: Classes | None = None
    """The predicted classes if they are not the most probable ones, such as tags that a CRF decodes
    together.
    """

    @property
    def predicted(self) -> Classes:
        return self.log_probs.argmax(axis=1) if self.decoded is None else self.decoded

    @property
    def correct(self) -> Bool[np.ndarray, " examples"]:
        return self.predicted == self.targets

    @property
    def nats(self) -> Float[np.ndarray, " examples"]:
        """Cross-entropy of every example."""
        return -self.log_probs[np.arange(len(self.targets)), self.targets]

    @property
    def num_classes(self) -> int:
        return self.log_probs.shape[1]

    def worst_mistakes(self, count: int) -> Classes:
        """Return the wrong examples whose true class has the lowest probability, worst first."""
        wrong = np.flatnonzero(~self.correct)
        return wrong[np.argsort(-self.nats[wrong], kind="stable")][:count]


def predict_classes(
    outputs: Float[np.ndarray, "examples classes"], split: LabeledSplit, *, temperature: float
) -> ClassPredictions:
    """Turn the logits for a split into predictions."""
    targets = split.store["label"].values.astype(np.int64)
    return ClassPredictions(targets, apply_temperature(outputs, temperature).astype(np.float32))


def class_sections(predictions: ClassPredictions, names: Sequence[str]) -> list[ReportSection]:
    """Return the confusion matrix and the scores of every class."""
    counts = confusion_counts(predictions.targets, predictions.predicted, num_classes=predictions.num_classes)
    scores = class_scores(counts)
    lines = class_lines(
        names,
        scores.precision.tolist(),
        scores.recall.tolist(),
        scores.f1.tolist(),
        counts.sum(axis=1).tolist(),
    )
    return [ConfusionMatrix(list(names), counts.tolist()), PerClassScores(lines)]

"""What a classifier has to beat: naive Bayes for text, the nearest class mean for numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.majority import MajorityClass
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.metrics.classification import accuracy
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.predictions import ClassPredictions
from seqlab.tasks.labeled.split import LabeledSplit


@dataclass(frozen=True)
class ClassBaseline:
    """The predictions of a simple model for every example of a split."""

    name: str
    predicted: Int[np.ndarray, " examples"]
    log_probs: Float[np.ndarray, "examples classes"] | None = None


def class_baseline(codec: ClassificationCodec, train: LabeledSplit, split: LabeledSplit) -> ClassBaseline:
    """The simple model for this kind of input, fitted on the training split."""
    examples = zip(train.steps, train.store["label"].values.tolist(), strict=True)
    if codec.vocabulary is None:
        means = NearestMean.fit(examples, num_classes=len(codec.labels))
        return ClassBaseline("nearest class mean", means.predict(iter(split.steps)))
    bayes = NaiveBayes.fit(examples, vocabulary_size=len(codec.vocabulary), num_classes=len(codec.labels))
    log_probs = bayes.log_probs(iter(split.steps))
    return ClassBaseline("naive Bayes", log_probs.argmax(axis=1), log_probs)


def majority_accuracy(
    codec: ClassificationCodec, train: LabeledSplit, predictions: ClassPredictions
) -> float:
    """The accuracy of always predicting the most frequent class of the training split."""
    majority = MajorityClass.fit(train.store["label"].values.tolist(), num_classes=len(codec.labels))
    return accuracy(predictions.targets, majority.predict(len(predictions.targets)))

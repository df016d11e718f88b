"""The baseline of a classifier: naive Bayes for text, the nearest class mean for numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.baselines.text_features import BagView
from seqlab.metrics.classification import accuracy
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.labeled.baseline_views import TUNING, FittedViews
from seqlab.tasks.labeled.split import LabeledSplit


@dataclass(frozen=True)
class ClassBaseline:
    """The predictions of a simple model for every example of a split."""

    name: str
    predicted: Int[np.ndarray, " examples"]
    log_probs: Float[np.ndarray, "examples classes"] | None = None
    view: BagView | None = None
    """The text features it uses."""


class FittedClassBaseline:
    """The baseline for this kind of input, fitted on the training split."""

    def __init__(self, codec: ClassificationCodec, train: LabeledSplit) -> None:
        self._codec, self._train = codec, train

    def predict(self, splits: Mapping[str, LabeledSplit], split: str) -> ClassBaseline:
        """Predict the rows of a split, with the features that are best on the validation split."""
        if self._codec.vocabulary is None:
            return ClassBaseline("nearest class mean", self._means.predict(iter(splits[split].steps)))
        view, bayes = self._choose(splits, split)
        log_probs = bayes.log_probs(iter(view.ids[split]))
        return ClassBaseline(f"naive Bayes on {view.name}", log_probs.argmax(axis=1), log_probs, view)

    def _choose(self, splits: Mapping[str, LabeledSplit], split: str) -> tuple[BagView, NaiveBayes]:
        """Return the features with the best validation accuracy, and their model; on a tie, the first."""
        candidates = self._views.candidates(splits, split)
        if TUNING not in splits:
            return next(candidates)
        truth = _label_ids(splits[TUNING])
        return max(candidates, key=lambda one: accuracy(truth, one[1].predict(iter(one[0].ids[TUNING]))))

    @cached_property
    def _means(self) -> NearestMean:
        examples = zip(self._train.steps, _label_ids(self._train).tolist(), strict=True)
        return NearestMean.fit(examples, num_classes=len(self._codec.labels))

    @cached_property
    def _views(self) -> FittedViews[NaiveBayes]:
        assert self._codec.vocabulary is not None
        num_classes = len(self._codec.labels)
        return FittedViews(self._train, self._codec.vocabulary, self._fit_bayes, num_outputs=num_classes)

    def _fit_bayes(self, texts: Iterable[Any], size: int) -> NaiveBayes:
        examples = zip(texts, _label_ids(self._train).tolist(), strict=True)
        return NaiveBayes.fit(examples, vocabulary_size=size, num_classes=len(self._codec.labels))


def _label_ids(split: LabeledSplit) -> Int[np.ndarray, " examples"]:
    return split.store["label"].values.astype(np.int64)

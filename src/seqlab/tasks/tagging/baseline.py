"""The baseline of a tagger: one that sees one word at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seqlab.baselines.most_frequent_tag import MostFrequentTag
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.tasks.tagging.codec import TaggedSplit, TaggingCodec


@dataclass(frozen=True)
class BaselineTags:
    """The predicted tags of all words, concatenated, and how often each word occurs in training; None for
    steps of numbers.
    """

    predicted: Int[np.ndarray, " words"]
    times: Int[np.ndarray, " words"] | None
    name: str = "the word's most frequent tag"

    @property
    def is_seen(self) -> Bool[np.ndarray, " words"]:
        return np.ones(len(self.predicted), np.bool_) if self.times is None else self.times > 0


class BaselineTagger(ABC):
    """A baseline fitted on the training split."""

    @abstractmethod
    def tag(self, sentences: Iterable[Sequence[Any]]) -> BaselineTags:
        """Return the tags of all words, concatenated."""


class MostFrequentTagger(BaselineTagger):
    """Predicts the most frequent tag of each word."""

    def __init__(self, baseline: MostFrequentTag) -> None:
        self._baseline = baseline

    def tag(self, sentences: Iterable[Sequence[str]]) -> BaselineTags:
        words = [word for sentence in sentences for word in sentence]
        return BaselineTags(
            np.array(self._baseline.predict(words)), np.array([self._baseline.count(word) for word in words])
        )


class NearestMeanTagger(BaselineTagger):
    """Predicts the tag whose steps have the nearest mean."""

    def __init__(self, baseline: NearestMean) -> None:
        self._baseline = baseline

    def tag(self, sentences: Iterable[Sequence[Sequence[float]]]) -> BaselineTags:
        predicted = self._baseline.predict(_single(step) for sentence in sentences for step in sentence)
        return BaselineTags(predicted, None, name="the nearest mean of each step")


def fit_baseline(codec: TaggingCodec, train: TaggedSplit) -> BaselineTagger:
    """Fit the baseline for words, or the one for steps of numbers."""
    pairs = (train.rows.pairs(row) for row in train.rows.rows())
    examples = ((words, [codec.labels.encode(tag) for tag in tags]) for words, tags in pairs)
    if codec.tags_words:
        return MostFrequentTagger(MostFrequentTag.fit(examples))
    steps = (
        (_single(step), tag) for sequence, tags in examples for step, tag in zip(sequence, tags, strict=True)
    )
    return NearestMeanTagger(NearestMean.fit(steps, num_classes=len(codec.labels)))


def _single(step: Any) -> Any:
    """Return one step as a series of length 1."""
    return np.atleast_2d(np.asarray(step, np.float64))

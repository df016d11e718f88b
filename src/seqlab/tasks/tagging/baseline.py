"""The tagger that a trained one has to beat: it never looks at neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from seqlab.baselines.most_frequent_tag import MostFrequentTag
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.tasks.tagging.predictions import NaiveTags

Example = tuple[Sequence[Any], Sequence[int]]


class NaiveTagger(ABC):
    """Fitted on the training data, asked about sentences."""

    @abstractmethod
    def tag(self, sentences: Iterable[Sequence[Any]]) -> NaiveTags:
        """The tags of all words, laid end to end."""


class NaiveWords(NaiveTagger):
    """The tag that each word mostly has."""

    def __init__(self, baseline: MostFrequentTag) -> None:
        self._baseline = baseline

    def tag(self, sentences: Iterable[Sequence[str]]) -> NaiveTags:
        words = [word for sentence in sentences for word in sentence]
        return NaiveTags(
            np.array(self._baseline.predict(words)), np.array([self._baseline.count(word) for word in words])
        )


class NaiveSteps(NaiveTagger):
    """The tag whose steps have the nearest mean."""

    def __init__(self, baseline: NearestMean) -> None:
        self._baseline = baseline

    def tag(self, sentences: Iterable[Sequence[Sequence[float]]]) -> NaiveTags:
        predicted = self._baseline.predict(_single(step) for sentence in sentences for step in sentence)
        return NaiveTags(predicted, None, name="the nearest mean of each step")


def learn_naive_tagger(examples: Iterable[Example], *, num_tags: int) -> NaiveTagger:
    """The one that fits what the first example holds: words, or steps of numbers."""
    remaining = iter(examples)
    first = next(remaining)
    everything: Iterator[Example] = chain([first], remaining)
    if isinstance(first[0][0], str):
        return NaiveWords(MostFrequentTag.fit(everything))
    steps = (
        (_single(step), tag)
        for sequence, tags in everything
        for step, tag in zip(sequence, tags, strict=True)
    )
    return NaiveSteps(NearestMean.fit(steps, num_classes=num_tags))


def _single(step: Any) -> Any:
    """One step as a series of length 1."""
    return np.atleast_2d(np.asarray(step, np.float64))

"""The interface of metrics: a number computed from the targets and predictions of all items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from seqlab.core.registry import first_paragraph
from seqlab.metrics.items import Indices, Items, mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval

Answer = tuple[str, ...]
"""The label of an item, its labels, the tags of its words, or the text generated for it."""


class Metric(ABC):
    """A number for a whole split, computed again on every bootstrap resample.

    A target is `("positive",)` for classification and `("DET", "NOUN")` for tagging; with several references,
    as in translation, it contains all of them. `MeanMetric` is much faster if a metric is a mean over items.
    """

    higher_is_better: ClassVar[bool] = True

    @abstractmethod
    def value(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> float:
        """The metric on some items, in the order of the data; items may be repeated."""

    def items(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> Items:
        return AnswerItems(self, truths, predictions)


class MeanMetric(Metric):
    """The mean of one number per item."""

    @abstractmethod
    def item_value(self, truth: Answer, prediction: Answer) -> float:
        """The number of one item."""

    def value(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> float:
        return self.items(truths, predictions).full_score()

    def items(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> Items:
        pairs = zip(truths, predictions, strict=True)
        return mean_items(np.array([self.item_value(truth, prediction) for truth, prediction in pairs]))


class AnswerItems(Items):
    """The items of a metric that needs all predictions at once."""

    def __init__(self, metric: Metric, truths: Sequence[Answer], predictions: Sequence[Answer]) -> None:
        assert len(truths) == len(predictions)
        self.num_items = len(truths)
        self._metric, self._truths, self._predictions = metric, truths, predictions

    def value(self, indices: Indices) -> float:
        chosen = indices.tolist()
        return float(
            self._metric.value(
                [self._truths[index] for index in chosen], [self._predictions[index] for index in chosen]
            )
        )


def score_of(name: str, metric: Metric, items: Items) -> Score:
    """A metric with its confidence interval, as for every other score."""
    return score_with_interval(
        name,
        items,
        method=first_paragraph(type(metric).__doc__ or ""),
        higher_is_better=metric.higher_is_better,
    )

"""The items of a score: independent units, and the score of any selection of them.

Accuracy, loss, perplexity, macro-F1 and F1 over spans have one shape: something is counted for every item (a
row, a sentence, a block of tokens), the counts are added up over the chosen items, and the score is a
function of the sums:

    value(chosen) = score(Σ_{i in chosen} table[kinds[i]])

so that one implementation resamples items for the interval of a score and for the difference between two
models. A score of another form is a separate class with `num_items` and `value`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError
from seqlab.metrics.classification import macro_f1_from_counts

# Up to this many distinct values, items with equal values are grouped into one kind.
MAX_DISTINCT_VALUES = 64

Indices = Int[np.ndarray, " chosen"]
Draws = Int[np.ndarray, "resamples items"]
Statistics = Float[np.ndarray, " resamples"]
ScoreFromSums = Callable[[Float[np.ndarray, "resamples parts"]], Statistics]


class Items(ABC):
    """The independent units behind one score, in the order of the data."""

    num_items: int

    @abstractmethod
    def value(self, indices: Indices) -> float:
        """The score on the selected items; repeated items count repeatedly."""

    def values(self, draws: Draws) -> Statistics:
        """The score of each row of selections."""
        return np.array([self.value(indices) for indices in draws], dtype=np.float64)

    def full_score(self) -> float:
        """The score on all items."""
        return self.value(np.arange(self.num_items))

    def subset(self, indices: Indices) -> Items:
        """The selected items only."""
        return _Subset(self, indices)


class _Subset(Items):
    """Selected items of a score that only defines `value`."""

    def __init__(self, items: Items, indices: Indices) -> None:
        self.num_items = len(indices)
        self._items, self._indices = items, indices

    def value(self, indices: Indices) -> float:
        return self._items.value(self._indices[indices])


@dataclass(frozen=True)
class SumItems(Items):
    """A score that is a function of sums over its items. Items of one kind have the same row of the table."""

    row_ids: Int[np.ndarray, " items"]
    table: Float[np.ndarray, "kinds parts"]
    score: ScoreFromSums

    @property
    def num_items(self) -> int:  # type: ignore[override] # a plain field of the abstract class, derived from the kinds here
        return len(self.row_ids)

    def value(self, indices: Indices) -> float:
        return float(self.values(indices[None])[0])

    def values(self, draws: Draws) -> Statistics:
        num_rows = len(self.table)
        cells = self.row_ids[draws] + num_rows * np.arange(len(draws))[:, None]
        counts = np.bincount(cells.ravel(), minlength=len(draws) * num_rows)
        return self.score_from_counts(counts.reshape(len(draws), num_rows), self.table)

    def score_from_counts(
        self, counts: Int[np.ndarray, "resamples kinds"], table: Float[np.ndarray, "kinds parts"]
    ) -> Statistics:
        """The scores for given counts of each row of the table."""
        return self.score(weighted_sums(counts, table))

    def subset(self, indices: Indices) -> SumItems:
        used, row_ids = np.unique(self.row_ids[indices], return_inverse=True)
        return SumItems(row_ids, self.table[used], self.score)

    def per_item(self) -> Float[np.ndarray, "items parts"]:
        """The summands of each item."""
        return self.table[self.row_ids]


def mean_items(values: Shaped[np.ndarray, " items"]) -> SumItems:
    """A mean of one value for each item: 1 for right and 0 for wrong gives accuracy.

    >>> mean_items(np.array([True, False, True, True])).full_score()
    0.75
    """
    distinct, row_ids = np.unique(values, return_inverse=True)
    if len(distinct) > MAX_DISTINCT_VALUES:
        distinct, row_ids = values, np.arange(len(values))
    return SumItems(
        row_ids, np.stack([distinct.astype(np.float64), np.ones(len(distinct))], axis=1), ratio_of_sums
    )


def unanimous_proportion(items: Items) -> float | None:
    """0 or 1 if the items are answers that are all wrong or all right, otherwise None.

    >>> unanimous_proportion(mean_items(np.array([True, True]))), unanimous_proportion(mean_items(np.array([3.0, 3.0])))
    (1.0, None)
    """
    if (
        not isinstance(items, SumItems)
        or items.score is not ratio_of_sums
        or len(np.unique(items.row_ids)) > 1
    ):
        return None
    correct, answers = items.table[items.row_ids[0]]
    return float(correct) if answers == 1 and correct in (0, 1) else None


def ratio_items(
    numerator: Shaped[np.ndarray, " items"],
    denominator: Shaped[np.ndarray, " items"],
    score: ScoreFromSums | None = None,
) -> SumItems:
    """Σ above / Σ below: nats and tokens give nats per token; twice the correct spans over predicted plus
    true spans gives F1.

    >>> ratio_items(np.array([3.0, 1.0]), np.array([4.0, 1.0])).full_score()
    0.8
    """
    if (denominator <= 0).any():
        raise UsageError("a ratio needs positive denominators.", cure="Remove examples without targets.")
    table = np.stack([numerator, denominator], axis=1).astype(np.float64)
    return SumItems(np.arange(len(table)), table, score or ratio_of_sums)


def macro_f1_items(
    targets: Int[np.ndarray, " answers"],
    predicted: Int[np.ndarray, " answers"],
    *,
    num_classes: int,
    groups: Int[np.ndarray, " answers"] | None = None,
) -> SumItems:
    """The mean F1 of the classes.

    With `groups` an item is a group of predictions, such as the words of a sentence.
    """
    if groups is None:  # an item is determined by its true and its predicted class
        distinct, row_ids = np.unique(targets.astype(np.int64) * num_classes + predicted, return_inverse=True)
        return SumItems(
            row_ids,
            _counts(distinct // num_classes, distinct % num_classes, np.arange(len(distinct)), num_classes),
            macro_f1_from_sums,
        )
    _, row_ids = np.unique(groups, return_inverse=True)
    return SumItems(
        np.arange(int(row_ids.max(initial=-1)) + 1),
        _counts(targets, predicted, row_ids, num_classes),
        macro_f1_from_sums,
    )


def grouped_mean_items(
    values: Shaped[np.ndarray, " answers"],
    groups: Int[np.ndarray, " answers"],
    score: ScoreFromSums | None = None,
) -> SumItems:
    """A mean over predictions whose items are groups, such as the words of a sentence.

    Groups without predictions are ignored.
    """
    sizes = np.bincount(groups)
    sums = np.bincount(groups, weights=values.astype(np.float64))
    return ratio_items(sums[sizes > 0], sizes[sizes > 0], score)


def weighted_sums(
    counts_by_row: Int[np.ndarray, "resamples kinds"], table: Float[np.ndarray, "kinds parts"]
) -> Float[np.ndarray, "resamples parts"]:
    """counts @ table, where infinite entries with a count of 0 are ignored."""
    counts = counts_by_row.astype(np.float64)  # float products are much faster, and exact for counts
    is_infinite = np.isinf(table)
    if not is_infinite.any():
        return counts @ table
    sums: Float[np.ndarray, "resamples parts"] = counts @ np.where(is_infinite, 0.0, table)
    sums[(counts @ is_infinite) > 0] = np.inf
    return sums


def ratio_of_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The first sum divided by the second; 0 / 0 is NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        scores: Statistics = sums[:, 0] / sums[:, 1]
    return scores


def ratio_or_zero(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The first sum divided by the second, 0 if the second is 0, which may happen in a resample."""
    scores: Statistics = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)
    return scores


def exp_ratio(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """exp of the ratio: perplexity from nats and tokens."""
    with np.errstate(over="ignore"):
        scores: Statistics = np.exp(ratio_of_sums(sums))
    return scores


def macro_f1_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The mean F1 of the classes in each resample, from three counts for each class: correct, predicted,
    present.
    """
    correct, predicted, support = np.split(np.rint(sums).astype(np.int64), 3, axis=1)
    return macro_f1_from_counts(correct, predicted=predicted, support=support)


def _counts(
    targets: Int[np.ndarray, " answers"],
    predicted: Int[np.ndarray, " answers"],
    items: Int[np.ndarray, " answers"],
    num_classes: int,
) -> Float[np.ndarray, "items parts"]:
    """For each item and class: the number of correct, predicted and present labels."""
    num_items = int(items.max(initial=-1)) + 1
    correct = targets == predicted
    pairs = ((targets[correct], items[correct]), (predicted, items), (targets, items))
    counts = [
        np.bincount(rows * num_classes + classes, minlength=num_items * num_classes).reshape(
            num_items, num_classes
        )
        for classes, rows in pairs
    ]
    return np.concatenate(counts, axis=1).astype(np.float64)

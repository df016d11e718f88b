"""What a score is made of: independent items, and the score of any choice of them.

Accuracy, loss, perplexity, macro-F1 and F1 over spans have one shape: something is counted for every item (a row, a sentence, a block of
tokens), the counts are added up over the chosen items, and the score is a function of the sums:

    value(chosen) = score(Σ_{i in chosen} table[kinds[i]])

so that one piece of code draws items again and again, for the interval of one score and for the difference between two models. A score of
another shape is a class of its own with `num_items` and `value`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError
from seqlab.metrics.classification import mean_f1

# Up to this many different values, items that have the same one count as one kind.
FEW_VALUES = 64

Chosen = Int[np.ndarray, " chosen"]
Draws = Int[np.ndarray, "resamples items"]
Statistics = Float[np.ndarray, " resamples"]
OfSums = Callable[[Float[np.ndarray, "resamples parts"]], Statistics]


class Items(ABC):
    """The independent units behind one score, in the order of the data."""

    num_items: int

    @abstractmethod
    def value(self, chosen: Chosen) -> float:
        """The score on the chosen items; one that is chosen twice counts twice."""

    def values(self, draws: Draws) -> Statistics:
        """The score of each row of choices."""
        return np.array([self.value(chosen) for chosen in draws], dtype=np.float64)

    def whole(self) -> float:
        """The score on every item once."""
        return self.value(np.arange(self.num_items))

    def part(self, chosen: Chosen) -> Items:
        """The chosen items alone."""
        return _Part(self, chosen)


class _Part(Items):
    """Some items of a score that offers nothing but `value`."""

    def __init__(self, items: Items, chosen: Chosen) -> None:
        self.num_items = len(chosen)
        self._items, self._chosen = items, chosen

    def value(self, chosen: Chosen) -> float:
        return self._items.value(self._chosen[chosen])


@dataclass(frozen=True)
class Sums(Items):
    """A score that is a function of sums over its items. Items of one kind have the same row of the table."""

    kinds: Int[np.ndarray, " items"]
    table: Float[np.ndarray, "kinds parts"]
    score: OfSums

    @property
    def num_items(self) -> int:  # type: ignore[override] # a plain field of the abstract class, told by the kinds here
        return len(self.kinds)

    def value(self, chosen: Chosen) -> float:
        return float(self.values(chosen[None])[0])

    def values(self, draws: Draws) -> Statistics:
        return self.of_times(np.stack([np.bincount(self.kinds[draw], minlength=len(self.table)) for draw in draws]), self.table)

    def of_times(self, times: Int[np.ndarray, "resamples kinds"], table: Float[np.ndarray, "kinds parts"]) -> Statistics:
        """The scores when each row of a table comes some times."""
        return self.score(sum_up(times, table))

    def part(self, chosen: Chosen) -> Sums:
        return Sums(self.kinds[chosen], self.table, self.score)

    def each(self) -> Float[np.ndarray, "items parts"]:
        """What is added up, item by item."""
        return self.table[self.kinds]


def means(values: Shaped[np.ndarray, " items"]) -> Sums:
    """A mean of one value for each item: 1 for right and 0 for wrong gives accuracy.

    >>> means(np.array([True, False, True, True])).whole()
    0.75
    """
    distinct, kinds = np.unique(values, return_inverse=True)
    if len(distinct) > FEW_VALUES:
        distinct, kinds = values, np.arange(len(values))
    return Sums(kinds, np.stack([distinct.astype(np.float64), np.ones(len(distinct))], axis=1), ratio)


def ratios(above: Shaped[np.ndarray, " items"], below: Shaped[np.ndarray, " items"], score: OfSums | None = None) -> Sums:
    """Σ above / Σ below: nats and tokens give nats per token; twice the right spans, and found plus wanted ones, give their F1.

    >>> ratios(np.array([3.0, 1.0]), np.array([4.0, 1.0])).whole()
    0.8
    """
    if (below <= 0).any():
        raise UsageError("a ratio needs positive denominators.", cure="Leave out examples without targets.")
    table = np.stack([above, below], axis=1).astype(np.float64)
    return Sums(np.arange(len(table)), table, score or ratio)


def macro_f1s(
    targets: Int[np.ndarray, " answers"],
    predicted: Int[np.ndarray, " answers"],
    *,
    num_classes: int,
    groups: Int[np.ndarray, " answers"] | None = None,
) -> Sums:
    """The mean F1 of the classes. With `groups` an item is a group of answers, such as the words of a sentence."""
    if groups is None:  # an item is known by its class and the class that it got
        present, kinds = np.unique(targets.astype(np.int64) * num_classes + predicted, return_inverse=True)
        return Sums(kinds, _counts(present // num_classes, present % num_classes, np.arange(len(present)), num_classes), macro_f1_of_sums)
    _, kinds = np.unique(groups, return_inverse=True)
    return Sums(np.arange(int(kinds.max(initial=-1)) + 1), _counts(targets, predicted, kinds, num_classes), macro_f1_of_sums)


def grouped(values: Shaped[np.ndarray, " answers"], groups: Int[np.ndarray, " answers"], score: OfSums | None = None) -> Sums:
    """A mean over answers whose items are groups of them, such as words of sentences. Groups without an answer play no part."""
    sizes = np.bincount(groups)
    sums = np.bincount(groups, weights=values.astype(np.float64))
    return ratios(sums[sizes > 0], sizes[sizes > 0], score)


def sum_up(times: Int[np.ndarray, "resamples kinds"], table: Float[np.ndarray, "kinds parts"]) -> Float[np.ndarray, "resamples parts"]:
    """times @ table, in which an infinite part counts as often as it comes and not where it comes 0 times."""
    counts = times.astype(np.float64)  # products of floats are far faster, and exact for counts
    is_infinite = np.isinf(table)
    if not is_infinite.any():
        return counts @ table
    sums: Float[np.ndarray, "resamples parts"] = counts @ np.where(is_infinite, 0.0, table)
    sums[(counts @ is_infinite) > 0] = np.inf
    return sums


def ratio(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The first sum by the second; 0 by 0 is no number."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Statistics = sums[:, 0] / sums[:, 1]
    return found


def ratio_or_nothing(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The first sum by the second, 0 where there is nothing to divide by: items that count for nothing may be among those that are drawn."""
    found: Statistics = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)
    return found


def exponential(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """exp of the ratio: perplexity, out of nats and tokens."""
    with np.errstate(over="ignore"):
        found: Statistics = np.exp(ratio(sums))
    return found


def macro_f1_of_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """The mean F1 of the classes in each draw, out of three counts for each class: right, predicted, present."""
    right, predicted, present = np.split(np.rint(sums).astype(np.int64), 3, axis=1)
    return mean_f1(right, predicted=predicted, present=present)


def _counts(
    targets: Int[np.ndarray, " answers"], predicted: Int[np.ndarray, " answers"], items: Int[np.ndarray, " answers"], num_classes: int
) -> Float[np.ndarray, "items parts"]:
    """For each item, by class: how many were right, how many got the class, how many have it."""
    num_items = int(items.max(initial=-1)) + 1
    right = targets == predicted
    pairs = ((targets[right], items[right]), (predicted, items), (targets, items))
    counts = [
        np.bincount(places * num_classes + classes, minlength=num_items * num_classes).reshape(num_items, num_classes) for classes, places in pairs
    ]
    return np.concatenate(counts, axis=1).astype(np.float64)

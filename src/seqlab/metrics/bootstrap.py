"""How sure a score is: percentile intervals from resampling the examples with replacement.

Draw as many examples as there are, with replacement, compute the score again, repeat; the middle 95 % of these scores is the
interval. The examples drawn must be independent of each other: sentences or documents rather than the words inside them.

Paper: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7(1); percentile intervals: Efron 1981.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError
from seqlab.metrics.classification import Confusion, scores_from_sums

RESAMPLES = 1000
LEVEL = 0.95
# Drawn indices held at once: 4 million are fast and take 32 MB.
LARGEST_DRAW = 1 << 22
# Up to this many different values a resample is drawn as how often each value comes, which costs far less than drawing examples.
FEW_VALUES = 64

Draws = Int[np.ndarray, "resamples examples"]
Statistics = Float[np.ndarray, " resamples"]


@dataclass(frozen=True)
class Interval:
    """The ends of an interval."""

    low: float
    high: float


def mean_interval(values: Shaped[np.ndarray, " examples"], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> Interval:
    """The interval of a mean of one value per example (1 for right and 0 for wrong gives accuracy)."""
    _refuse_nothing(len(values))
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= FEW_VALUES and np.isfinite(distinct).all():
        drawn = np.random.default_rng(seed).multinomial(len(values), counts / len(values), size=resamples)  # (resamples, distinct)
        return percentiles(drawn @ distinct / len(values), level=level)
    return interval(lambda draws: values[draws].mean(axis=1), len(values), seed=seed, resamples=resamples, level=level)


def ratio_interval(
    above: Shaped[np.ndarray, " examples"],
    below: Shaped[np.ndarray, " examples"],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """The interval of Σ above / Σ below, both summed over the same drawn examples.

    With the nats and the tokens of each document it is the interval of the nats per token; its ends through exp are the
    interval of the perplexity.
    """
    if (below <= 0).any():
        raise UsageError("a ratio needs positive denominators.", cure="Leave out examples without targets.")
    return interval(lambda draws: above[draws].sum(axis=1) / below[draws].sum(axis=1), len(above), seed=seed, resamples=resamples, level=level)


def macro_f1_interval(counts: Confusion, *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> Interval:
    """The interval of the macro-F1 of a confusion matrix.

    Drawing examples with replacement is drawing how often each kind of example (its class, the class it got) comes, so that the
    matrix is all that is needed.
    """
    _refuse_nothing(int(counts.sum()))
    targets, predicted = np.nonzero(counts)  # (cells,) each
    cells = counts[targets, predicted]
    drawn = np.random.default_rng(seed).multinomial(cells.sum(), cells / cells.sum(), size=resamples)  # (resamples, cells)
    num_classes = len(counts)
    scores = scores_from_sums(
        _sums_by_class(drawn * (targets == predicted), targets, num_classes),
        predicted=_sums_by_class(drawn, predicted, num_classes),
        present=_sums_by_class(drawn, targets, num_classes),
    )
    return percentiles(scores.f1.mean(axis=1), level=level)


def interval(
    statistic: Callable[[Draws], Statistics], num_examples: int, *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The interval of any statistic: a function from drawn example numbers (resamples, examples) to one value per resample."""
    _refuse_nothing(num_examples)
    generator = np.random.default_rng(seed)
    rows = max(1, LARGEST_DRAW // num_examples)
    values = [statistic(generator.integers(num_examples, size=(min(rows, resamples - start), num_examples))) for start in range(0, resamples, rows)]
    return percentiles(np.concatenate(values), level=level)


def percentiles(values: Statistics, *, level: float = LEVEL) -> Interval:
    """The middle part of some values, as large as the level."""
    if not 0 < level < 1:
        raise UsageError(f"an interval of level {level} does not exist.", cure="A level lies between 0 and 1, such as 0.95.")
    # A value that occurred, never one between two: infinite ones have nothing between them.
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return Interval(float(low), float(high))


def _sums_by_class(
    drawn: Int[np.ndarray, "resamples cells"], classes: Int[np.ndarray, " cells"], num_classes: int
) -> Int[np.ndarray, "resamples classes"]:
    sums = np.zeros((len(drawn), num_classes), dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    present, starts = np.unique(classes[order], return_index=True)
    sums[:, present] = np.add.reduceat(drawn[:, order], starts, axis=1)
    return sums


def _refuse_nothing(num_examples: int) -> None:
    if num_examples == 0:
        raise UsageError("an interval needs at least one example.", cure="Give at least one example.")

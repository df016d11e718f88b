"""Paired significance tests: is one model better than another on the same data, or is it chance?

    paired bootstrap   draw items with replacement, score both models on the same draw, look at the difference; repeat.
                       The middle 95% of the differences is the interval. The smaller share beyond 0, doubled, is the p-value:
                       p = 2 · min(#{d <= 0} + 1, #{d >= 0} + 1) / (resamples + 1), at most 1
    McNemar            of the examples that only one of two classifiers has right, each is as likely to be either's if they are
                       equally good: p = 2 · P(X <= min(b, c)),  X ~ Binomial(b + c, 1/2)
    Holm               of m p-values the smallest counts m times, the next m - 1 times, …, so that the chance of any false alarm
                       stays at the level

Papers: Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 16; Koehn 2004, "Statistical
Significance Tests for Machine Translation Evaluation", EMNLP; McNemar 1947, Psychometrika 12(2); Holm 1979,
Scandinavian Journal of Statistics 6(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

from seqlab.metrics.bootstrap import MIN_ITEMS, MIN_RESAMPLES, RESAMPLES, percentile_interval, resample
from seqlab.metrics.items import Items, SumItems
from seqlab.metrics.paired_difference import PairedDifference

MAX_DRAWN_ITEMS = 200_000_000
"""Maximum number of items drawn for one comparison; with more items there are fewer resamples."""

Statistics = Float[np.ndarray, " resamples"]


def paired_bootstrap(
    reference: Sequence[Items],
    others: Sequence[Sequence[Items]],
    *,
    higher_is_better: bool,
    seed: int | None = None,
    unit: str = "rows",
) -> list[PairedDifference]:
    """Compare each of the others with the reference, on the same items.

    A model trained with several seeds is represented by the mean of its runs. unit: what an item is.
    """
    all_items = [*reference, *(items for other in others for items in other)]
    num_items = all_items[0].num_items
    max_resamples = (
        RESAMPLES if all(isinstance(items, SumItems) for items in all_items) else MIN_RESAMPLES
    )  # other scores are computed one by one
    resamples = max(MIN_RESAMPLES, min(max_resamples, MAX_DRAWN_ITEMS // max(1, num_items)))
    is_enough = num_items >= MIN_ITEMS
    drawn = (
        resample(all_items, seed=seed, resamples=resamples) if is_enough else np.empty((len(all_items), 0))
    )
    full_scores = np.array([items.full_score() for items in all_items])
    sign = 1.0 if higher_is_better else -1.0
    ends = np.cumsum([len(reference), *map(len, others)]).tolist()
    results = []
    for start, stop in pairwise(ends):
        with np.errstate(invalid="ignore"):  # two infinite scores have no difference
            differences = sign * (drawn[start:stop].mean(axis=0) - drawn[: ends[0]].mean(axis=0))
            value = sign * float(full_scores[start:stop].mean() - full_scores[: ends[0]].mean())
        results.append(difference_with_interval(value, differences, num_items=num_items, unit=unit))
    return [
        replace(result, holm_p=p)
        for result, p in zip(results, holm_adjust([result.p for result in results]), strict=True)
    ]


def difference_with_interval(
    value: float, differences: Statistics, *, num_items: int, unit: str = "rows"
) -> PairedDifference:
    """The difference of two models with its interval and p-value, from the differences on many resamples;
    without resamples there is neither.
    """
    if not len(differences):
        return PairedDifference(value, None, None, 1.0, 1.0, 0, num_items, unit)
    interval, p = percentile_interval(differences), two_sided_p_value(differences)
    return PairedDifference(value, interval.low, interval.high, p, p, len(differences), num_items, unit)


def two_sided_p_value(differences: Statistics) -> float:
    """Twice the fraction of resamples on the rarer side of 0; one is added to each count, since the data itself
    is one resample.

    >>> two_sided_p_value(np.array([1.0] * 99)), two_sided_p_value(np.array([1.0, -1.0, 2.0]))
    (0.02, 1.0)
    """
    rarer = min(
        int((~(differences > 0)).sum()), int((~(differences < 0)).sum())
    )  # NaN counts for neither side
    return min(1.0, 2 * (rarer + 1) / (len(differences) + 1))


def holm_adjust(p_values: Sequence[float]) -> list[float]:
    """
    >>> holm_adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, lower_bound = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        lower_bound = max(lower_bound, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = lower_bound
    return adjusted


@dataclass(frozen=True)
class McNemar:
    """Agreement of two classifiers: the number of examples that both, only the first, only the second or
    neither got right, and the p-value.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def mcnemar(first: Bool[np.ndarray, " examples"], second: Bool[np.ndarray, " examples"]) -> McNemar:
    """The exact test, given which examples each classifier got right.

    >>> mcnemar(np.array([True, True, True, False]), np.array([True, False, False, False]))
    McNemar(both=1, only_first=2, only_second=0, neither=1, p=0.5)
    """
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    count, fewer = only_first + only_second, min(only_first, only_second)
    logs = [
        math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) - count * math.log(2)
        for k in range(fewer + 1)
    ]
    p = float(
        f"{min(1.0, 2 * math.fsum(map(math.exp, logs))):.10g}"
    )  # rounded: logarithms of factorials are not exact
    return McNemar(int((first & second).sum()), only_first, only_second, int((~first & ~second).sum()), p)

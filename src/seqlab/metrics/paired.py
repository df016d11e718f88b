"""Is one model better than another on the same data, or is it chance? Paired tests.

    paired bootstrap   draw items with replacement, score both models on the same draw, look at the difference; repeat.
                       The middle 95 % of the differences is the interval. The smaller share beyond 0, doubled, is the p-value:
                       p = 2 · min(#{d <= 0} + 1, #{d >= 0} + 1) / (resamples + 1), at most 1
    McNemar            of the examples that only one of two classifiers has right, each is as likely to be either's if they are
                       equally good: p = 2 · P(X <= min(b, c)),  X ~ Binomial(b + c, 1/2)
    Holm               of m p-values the smallest counts m times, the next m - 1 times, …, so that the chance of any false alarm
                       stays at the level

Papers: Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 16; Koehn 2004, "Statistical Significance Tests for Machine
Translation Evaluation", EMNLP; McNemar 1947, Psychometrika 12(2); Holm 1979, Scandinavian Journal of Statistics 6(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqlab.metrics.bootstrap import FEWEST_ITEMS, LEVEL, percentiles, resample
from seqlab.metrics.items import Items, Sums

RESAMPLES, FEWEST = 10_000, 1_000
MOST_DRAWN = 200_000_000
"""Items that are drawn at most, over all resamples: beyond, there are fewer resamples."""

Statistics = Float[np.ndarray, " resamples"]


@dataclass(frozen=True)
class Difference:
    """How much better one model is than another in one score; above 0 it is better, whatever the direction of the score.

    Too few items give a value without an interval, and a p of 1.
    """

    value: float
    low: float | None
    high: float | None
    p: float
    holm_p: float
    resamples: int

    @property
    def is_shown(self) -> bool:
        """Whether this data shows a difference at all."""
        return self.holm_p < 1 - LEVEL

    def sentence(self, name: str, other: str, *, places: int = 4) -> str:
        """
        >>> Difference(0.012, 0.004, 0.02, 0.003, 0.003, 10_000).sentence("B", "A", places=3)
        'B is better than A by 0.012 [0.004, 0.020]; p = 0.003'
        >>> Difference(-0.012, -0.03, 0.002, 0.09, 0.09, 10_000).sentence("B", "A", places=3)
        'no difference between B and A that this data can show: B is worse by 0.012 [−0.002, 0.030]; p = 0.090'
        >>> Difference(0.012, None, None, 1.0, 1.0, 0).sentence("B", "A", places=3)
        'no difference between B and A that this data can show: B is better by 0.012; fewer than 10 items give no interval'
        """
        how, by = ("worse", f"by {-self.value:.{places}f}") if self.value < 0 else ("better", f"by {self.value:.{places}f}")
        unsure = f"no difference between {name} and {other} that this data can show: {name} is {how} {by}"
        if self.low is None or self.high is None:
            return f"{unsure}; fewer than {FEWEST_ITEMS} items give no interval"
        low, high = (-self.high, -self.low) if self.value < 0 else (self.low, self.high)
        reach = f"[{_signed(low, places)}, {_signed(high, places)}]; p = {_p(self.holm_p)}"
        return f"{name} is {how} than {other} {by} {reach}" if self.is_shown else f"{unsure} {reach}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_shown": self.is_shown}


def compare_with(reference: Sequence[Items], others: Sequence[Sequence[Items]], *, higher_is_better: bool, seed: int = 0) -> list[Difference]:
    """Each of the others beside the reference, on the same items. A model that was trained with several seeds is the mean of its runs."""
    everything = [*reference, *(items for other in others for items in other)]
    most = RESAMPLES if all(isinstance(items, Sums) for items in everything) else FEWEST  # other scores are computed one by one
    resamples = max(FEWEST, min(most, MOST_DRAWN // max(1, everything[0].num_items)))
    is_enough = everything[0].num_items >= FEWEST_ITEMS
    drawn = resample(everything, seed=seed, resamples=resamples) if is_enough else np.empty((len(everything), 0))
    whole = np.array([items.whole() for items in everything])
    sign = 1.0 if higher_is_better else -1.0
    ends = np.cumsum([len(reference), *map(len, others)]).tolist()
    found = []
    for start, stop in pairwise(ends):
        with np.errstate(invalid="ignore"):  # two infinite scores have no difference
            differences = sign * (drawn[start:stop].mean(axis=0) - drawn[: ends[0]].mean(axis=0))
            value = sign * float(whole[start:stop].mean() - whole[: ends[0]].mean())
        found.append(difference(value, differences) if is_enough else Difference(value, None, None, 1.0, 1.0, 0))
    return [replace(each, holm_p=p) for each, p in zip(found, holm([each.p for each in found]), strict=True)]


def difference(value: float, differences: Statistics) -> Difference:
    """The difference of two models with its interval and p-value, out of the differences on many draws."""
    reach, p = percentiles(differences), two_sided(differences)
    return Difference(value, reach.low, reach.high, p, p, len(differences))


def two_sided(differences: Statistics) -> float:
    """The share of resamples beyond 0 on the rarer side, doubled; one is added to each count, since the data itself is one draw.

    >>> two_sided(np.array([1.0] * 99)), two_sided(np.array([1.0, -1.0, 2.0]))
    (0.02, 1.0)
    """
    rarer = min(int((~(differences > 0)).sum()), int((~(differences < 0)).sum()))  # what is no number speaks for neither side
    return min(1.0, 2 * (rarer + 1) / (len(differences) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, before = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        before = max(before, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = before
    return found


@dataclass(frozen=True)
class McNemar:
    """How two classifiers agree: examples that both, only the first, only the second or none of them has right, and the p-value."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def mcnemar(first: Bool[np.ndarray, " examples"], second: Bool[np.ndarray, " examples"]) -> McNemar:
    """The exact test on whether each example was right.

    >>> mcnemar(np.array([True, True, True, False]), np.array([True, False, False, False]))
    McNemar(both=1, only_first=2, only_second=0, neither=1, p=0.5)
    """
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    count, fewer = only_first + only_second, min(only_first, only_second)
    logs = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) - count * math.log(2) for k in range(fewer + 1)]
    p = float(f"{min(1.0, 2 * math.fsum(map(math.exp, logs))):.10g}")  # logarithms of factorials are not exact
    return McNemar(int((first & second).sum()), only_first, only_second, int((~first & ~second).sum()), p)


def _signed(value: float, places: int) -> str:
    return f"{value:.{places}f}".replace("-", "−")


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.1g}"

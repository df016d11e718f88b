"""Bootstrap confidence intervals: percentile intervals from resampling the items with replacement.

Draw as many items as there are, with replacement, compute the score again, repeat; the middle 95% of these
scores is the interval. With B resamples its ends are the k-th lowest and the k-th highest score, where
k = (B + 1) · 0.025: the same number of resamples lies beyond either end. The items drawn must be independent of
each other: sentences or documents rather than the words inside them. Several models are scored on the same
resamples, so that the difficulty of the items cancels out of their differences (paired_tests.py).

With B resamples an end is itself off by chance, by about 2.7 σ / √B for a score with standard error σ: 0.027 σ
with 9,999 resamples, 0.085 σ with 999. The seed depends on the data, so that the intervals of different scores do
not all deviate to the same side; the same data gives the same interval.

If all items are right, or all wrong, every resample says the same, and the percentile interval has no width. For such a
proportion the interval is exact (Clopper & Pearson 1934): n of n right is a score of at least 0.025^(1/n).

Paper: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7(1); percentile
intervals: Efron 1981; the ranks: Davison & Hinkley 1997, "Bootstrap Methods and their Application", section 2.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError
from seqlab.core.seeds import derive
from seqlab.metrics.items import (
    MAX_DISTINCT_VALUES,
    Items,
    Statistics,
    SumItems,
    ratio_items,
    unanimous_proportion,
)

RESAMPLES, MIN_RESAMPLES = 9_999, 999
CONFIDENCE_LEVEL = 0.95
MIN_ITEMS = 10
"""Minimum number of items for an interval.

With one item, every resample is the same, so the interval has no width. A few items are often all equal by chance: if
correct and wrong are equally likely, five are in 6% of all cases, ten in 0.2%.
"""
MAX_DRAWN_ITEMS = 25_000_000
"""Maximum number of items drawn for one interval, about a second of work; with more items there are fewer resamples."""
# Number of sampled indices held at once: 4 million are fast and take 32 MB.
MAX_DRAWN = 1 << 22


@dataclass(frozen=True)
class ConfidenceInterval:
    """The ends of an interval."""

    low: float
    high: float


def interval_bounds(items: Items) -> tuple[float | None, float | None]:
    """The interval reported for a score; None if there are too few items."""
    check_not_empty(items.num_items)
    if items.num_items < MIN_ITEMS:
        return None, None
    interval = bootstrap_interval(items)
    return interval.low, interval.high


def bootstrap_interval(
    items: Items,
    *,
    seed: int | None = None,
    resamples: int | None = None,
    level: float = CONFIDENCE_LEVEL,
) -> ConfidenceInterval:
    """The interval of a score."""
    return interval_from(items, resample([items], seed=seed, resamples=resamples)[0], level=level)


def interval_from(items: Items, drawn: Statistics, *, level: float = CONFIDENCE_LEVEL) -> ConfidenceInterval:
    """The interval of a score from its values on resamples; exact if all items of a proportion agree."""
    share = unanimous_proportion(items)
    if share is None:
        return percentile_interval(drawn, level=level)
    bound = ((1 - level) / 2) ** (1 / items.num_items)
    return ConfidenceInterval(bound, 1.0) if share == 1 else ConfidenceInterval(0.0, 1 - bound)


def resample(
    all_items: Sequence[Items], *, seed: int | None = None, resamples: int | None = None
) -> Float[np.ndarray, "several resamples"]:
    """The scores of one or several models on the same resamples.

    If the items come in few kinds, a resample is drawn as the count of each kind, which is much cheaper than
    drawing items. seed: depends on the data when left out.
    """
    num_items = all_items[0].num_items
    check_not_empty(num_items)
    assert all(items.num_items == num_items for items in all_items), (
        "paired resampling needs the same items on both sides"
    )
    generator = np.random.default_rng(_seed_of(all_items) if seed is None else seed)
    sums = [items for items in all_items if isinstance(items, SumItems)]
    if len(sums) == len(all_items):
        firsts, counts = _shared_rows(sums)
        if len(counts) < num_items and len(counts) <= max(MAX_DISTINCT_VALUES, num_items // 4):
            row_counts = generator.multinomial(
                num_items, counts / num_items, size=resamples or _num_resamples(len(counts))
            )  # (resamples, kinds of all)
            return np.stack(
                [items.score_from_counts(row_counts, items.table[items.row_ids[firsts]]) for items in sums]
            )
        resamples = resamples or _num_resamples(num_items)
    resamples = resamples or MIN_RESAMPLES  # other scores are computed one by one
    rows = max(1, MAX_DRAWN // num_items)
    parts = []
    for start in range(0, resamples, rows):
        draws = generator.integers(num_items, size=(min(rows, resamples - start), num_items))
        parts.append(np.stack([items.values(draws) for items in all_items]))
    return np.concatenate(parts, axis=1)


def _num_resamples(numbers_each: int) -> int:
    """As many as the budget allows.

    >>> _num_resamples(2), _num_resamples(5_000), _num_resamples(1_000_000)
    (9999, 5000, 999)
    """
    return max(MIN_RESAMPLES, min(RESAMPLES, MAX_DRAWN_ITEMS // numbers_each))


def _seed_of(all_items: Sequence[Items]) -> int:
    """Three digits of what is summed, which are the same on every machine and for every unit of a score: the
    interval of the perplexity is exp of that of the loss.
    """
    items = all_items[0]
    total = items.per_item()[:, 0].sum() if isinstance(items, SumItems) else items.full_score()
    return derive(0, "bootstrap", items.num_items, f"{total:.3g}")


def ratio_interval(
    numerator: Shaped[np.ndarray, " examples"],
    denominator: Shaped[np.ndarray, " examples"],
    *,
    seed: int | None = None,
    resamples: int | None = None,
    level: float = CONFIDENCE_LEVEL,
) -> ConfidenceInterval:
    """The interval of Σ above / Σ below, both summed over the same drawn examples.

    With the nats and tokens of each document it is the interval of the nats per token; exp of its ends is the
    interval of the perplexity.
    """
    return bootstrap_interval(
        ratio_items(numerator, denominator), seed=seed, resamples=resamples, level=level
    )


def percentile_interval(values: Statistics, *, level: float = CONFIDENCE_LEVEL) -> ConfidenceInterval:
    """The central interval of some values at this level."""
    if not 0 < level < 1:
        raise UsageError(
            f"a confidence level of {level} is not possible.",
            cure="The level must be between 0 and 1, such as 0.95.",
        )
    if np.isnan(values).any():
        return ConfidenceInterval(math.nan, math.nan)
    # Observed values without interpolation, since infinite values cannot be interpolated. Both ends have the
    # same rank, one from below and one from above; the small number is for rounding errors of 1 - level.
    rank = max(1, int((len(values) + 1) * (1 - level) / 2 + 1e-6))
    ordered = np.sort(values)
    return ConfidenceInterval(float(ordered[rank - 1]), float(ordered[-rank]))


def _shared_rows(
    all_items: Sequence[SumItems],
) -> tuple[Int[np.ndarray, " kinds"], Int[np.ndarray, " kinds"]]:
    """Group items that are of the same kind for every model: one example item of each group, and its
    count.
    """
    row_ids = all_items[0].row_ids
    for items in all_items[1:]:
        row_ids = np.unique(row_ids * len(items.table) + items.row_ids, return_inverse=True)[1]
    _, firsts, counts = np.unique(row_ids, return_index=True, return_counts=True)
    return firsts, counts


def check_not_empty(num_examples: int) -> None:
    if num_examples == 0:
        raise UsageError(
            "a confidence interval needs at least one example.", cure="Pass at least one example."
        )

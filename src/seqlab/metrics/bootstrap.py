"""Bootstrap confidence intervals: percentile intervals from resampling the items with replacement.

Draw as many items as there are, with replacement, compute the score again, repeat; the middle 95 % of these
scores is the interval. The items drawn must be independent of each other: sentences or documents rather than
the words inside them. Several models are scored on the same resamples, so that the difficulty of the items
cancels out of their differences (paired.py).

Paper: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7(1); percentile
intervals: Efron 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError
from seqlab.metrics.items import MAX_DISTINCT_VALUES, Items, Statistics, SumItems, ratio_items
from seqlab.metrics.score import Score

RESAMPLES = 1000
CONFIDENCE_LEVEL = 0.95
MIN_ITEMS = 10
"""With fewer items there is neither an interval nor a verdict.

One item is drawn again and again: no width, whatever the truth. Of n items that all say the same no draw says
otherwise, which chance alone does in 2 · (1/2)^n of all cases: 6 % for five items, 0.2 % for ten.
"""
# Number of sampled indices held at once: 4 million are fast and take 32 MB.
MAX_DRAWN = 1 << 22


@dataclass(frozen=True)
class ConfidenceInterval:
    """The ends of an interval."""

    low: float
    high: float


def score_with_interval(name: str, items: Items, *, method: str = "", **score_fields: Any) -> Score:
    """Compute a score and its interval from its items."""
    low, high = interval_bounds(items)
    if low is None:
        method = f"{method}; fewer than {MIN_ITEMS} items give no interval".removeprefix("; ")
    return replace(Score(name, items.full_score(), low, high, method=method), **score_fields)


def interval_bounds(items: Items) -> tuple[float | None, float | None]:
    """The interval reported for a score; None if there are too few items."""
    _check_not_empty(items.num_items)
    if items.num_items < MIN_ITEMS:
        return None, None
    interval = bootstrap_interval(items)
    return interval.low, interval.high


def bootstrap_interval(
    items: Items, *, seed: int = 0, resamples: int = RESAMPLES, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """The interval of a score."""
    return percentile_interval(resample([items], seed=seed, resamples=resamples)[0], level=level)


def resample(
    all_items: Sequence[Items], *, seed: int = 0, resamples: int = RESAMPLES
) -> Float[np.ndarray, "several resamples"]:
    """The scores of one or several models on the same resamples.

    If the items come in few kinds, a resample is drawn as the count of each kind, which is much cheaper than
    drawing items.
    """
    num_items = all_items[0].num_items
    _check_not_empty(num_items)
    assert all(items.num_items == num_items for items in all_items), "the same draws need the same items"
    generator = np.random.default_rng(seed)
    sums = [items for items in all_items if isinstance(items, SumItems)]
    if len(sums) == len(all_items):
        firsts, counts = _shared_rows(sums)
        if len(counts) < num_items and len(counts) <= max(MAX_DISTINCT_VALUES, num_items // 4):
            row_counts = generator.multinomial(
                num_items, counts / num_items, size=resamples
            )  # (resamples, kinds of all)
            return np.stack(
                [items.score_from_counts(row_counts, items.table[items.row_ids[firsts]]) for items in sums]
            )
    rows = max(1, MAX_DRAWN // num_items)
    parts = []
    for start in range(0, resamples, rows):
        draws = generator.integers(num_items, size=(min(rows, resamples - start), num_items))
        parts.append(np.stack([items.values(draws) for items in all_items]))
    return np.concatenate(parts, axis=1)


def ratio_interval(
    numerator: Shaped[np.ndarray, " examples"],
    denominator: Shaped[np.ndarray, " examples"],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
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
            f"an interval of level {level} does not exist.",
            cure="A level lies between 0 and 1, such as 0.95.",
        )
    # Use observed values without interpolation, since infinite values cannot be interpolated.
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return ConfidenceInterval(float(low), float(high))


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


def _check_not_empty(num_examples: int) -> None:
    if num_examples == 0:
        raise UsageError("an interval needs at least one example.", cure="Give at least one example.")

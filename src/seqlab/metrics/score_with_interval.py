"""A score from its items: its value, its 95% CI, and its paired difference from a baseline on the same items."""

from __future__ import annotations

import numpy as np

from seqlab.metrics.bootstrap import MIN_ITEMS, check_not_empty, interval_from, resample
from seqlab.metrics.items import Items, Statistics
from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.paired_tests import difference_with_interval
from seqlab.metrics.score import Score


def score_with_interval(
    name: str,
    items: Items,
    *,
    baseline: Items | float | None = None,
    baseline_name: str = "",
    higher_is_better: bool = True,
    method: str = "",
    unit: str = "rows",
    note: str = "",
) -> Score:
    """Compute a score and its interval from its items.

    baseline: the same items as a naive method answers them, which are scored on the same resamples; or its
    score, if only that is known. unit: what an item is, in the plural.
    """
    check_not_empty(items.num_items)
    value = items.full_score()
    baseline_value = baseline.full_score() if isinstance(baseline, Items) else baseline
    low = high = None
    drawn = baseline_drawn = np.empty(0)
    if items.num_items >= MIN_ITEMS:
        drawn, baseline_drawn = _resample_both(items, baseline)
        interval = interval_from(items, drawn)
        low, high = interval.low, interval.high
    else:
        method = f"{method}; fewer than {MIN_ITEMS} {unit}, so no 95% CI".removeprefix("; ")
    difference: PairedDifference | None = None
    if baseline_value is not None:
        sign = 1.0 if higher_is_better else -1.0
        with np.errstate(invalid="ignore"):  # two infinite scores have no difference
            difference = difference_with_interval(
                sign * float(np.subtract(value, baseline_value)),
                sign * (drawn - baseline_drawn),
                num_items=items.num_items,
                unit=unit,
            )
    return Score(
        name,
        value,
        low,
        high,
        baseline_value,
        baseline_name if baseline_value is not None else "",
        higher_is_better,
        method,
        difference,
        note,
    )


def _resample_both(items: Items, baseline: Items | float | None) -> tuple[Statistics, Statistics]:
    """The scores of the model and of the baseline on the same resamples."""
    if isinstance(baseline, Items):
        drawn, baseline_drawn = resample([items, baseline])
        return drawn, baseline_drawn
    drawn = resample([items])[0]
    return drawn, np.full(len(drawn), np.nan if baseline is None else baseline)

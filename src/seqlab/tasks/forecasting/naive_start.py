"""Whether the last value or the last season is the better forecast of the training series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from jaxtyping import Float

Values = Float[np.ndarray, "steps targets"]
Naive = Literal["last", "season"]


def better_naive(series: Iterable[Values], *, season: int, horizon: int) -> Naive:
    """Compare the absolute errors of both over all steps of the horizon, in deviations of each series.

    >>> wave = np.sin(np.arange(60.0))[:, None]
    >>> better_naive([wave], season=44, horizon=5), better_naive([wave], season=5, horizon=1)
    ('season', 'last')
    """
    if season < 2:
        return "last"
    last = seasonal = 0.0
    for values in series:
        deviation = np.nanstd(values, axis=0)
        scaled = values / np.where(deviation > 0, deviation, 1.0)
        for step in range(1, horizon + 1):
            back = season * (-(-step // season))  # the same step of the last season that is over
            compared = scaled[back:]  # the same truths for both
            last += _total_change(compared, scaled[back - step : len(scaled) - step])
            seasonal += _total_change(compared, scaled[: len(scaled) - back])
    return "season" if seasonal < last else "last"


def _total_change(values: Values, earlier: Values) -> float:
    return float(np.nansum(np.abs(values - earlier)))

"""The season of series without timestamps, from their autocorrelation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from jaxtyping import Float

MOST_SERIES = 200
MOST_STEPS = 5_000
LONGEST = 400
LEAST_CORRELATION = 0.3
"""A weaker autocorrelation is no season."""
NEAR_BEST = 0.8
"""A shorter season is preferred if its autocorrelation is at least this part of the highest: days before weeks."""
FEWEST_PERIODS = 3

Values = Float[np.ndarray, " steps"]


def find_season(series: Iterable[Values]) -> int:
    """The lag at which the mean autocorrelation of the series, without their trends, peaks; 1 if none is high.

    >>> week = np.tile([1.0, 2, 2, 3, 5, 9, 4], 12)
    >>> find_season([week, week + np.arange(84)]), find_season([np.arange(50.0)])
    (7, 1)
    """
    correlations = [autocorrelation(values[-MOST_STEPS:]) for values in islice(series, MOST_SERIES)]
    longest = max(map(len, correlations), default=0)
    total, count = np.zeros(longest), np.zeros(longest)
    for correlation in correlations:
        total[: len(correlation)] += correlation
        count[: len(correlation)] += 1
    mean = total / np.maximum(count, 1)
    mean[count < 0.5 * len(correlations)] = 0
    inner = mean[1:-1]
    is_peak = (inner > mean[:-2]) & (inner >= mean[2:]) if longest > 2 else np.zeros(0, bool)
    lags = np.flatnonzero(is_peak) + 1
    best = max(mean[lags], default=0.0)
    good = lags[(mean[lags] >= LEAST_CORRELATION) & (mean[lags] >= NEAR_BEST * best) & (lags > 1)]
    return int(good[0]) if len(good) else 1


def autocorrelation(values: Values) -> Float[np.ndarray, " lags"]:
    """The autocorrelation of a series without its linear trend, for lags from 0; empty for a constant one.

    >>> autocorrelation(np.tile([2.0, -1, -1], 60))[:4].round(1).tolist()
    [1.0, -0.5, -0.5, 1.0]
    """
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2 * FEWEST_PERIODS:
        return np.zeros(0)
    steps = np.arange(len(values))
    filled = np.interp(steps, known, values[known])
    centered = filled - np.polyval(np.polyfit(steps, filled, 1), steps)
    if np.abs(centered).max() <= 1e-9 * max(np.abs(filled).max(), 1e-300):
        return np.zeros(0)
    spectrum = np.abs(np.fft.rfft(centered, 2 * len(centered))) ** 2
    correlation = np.fft.irfft(spectrum)[: min(LONGEST, len(values) // FEWEST_PERIODS) + 1]
    result: Float[np.ndarray, " lags"] = correlation / correlation[0]
    return result

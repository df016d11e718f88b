"""Classical seasonal decomposition: what every phase of a season adds to, or multiplies, the level.

    trend_t    = centered moving average of y over one season
    index_p    = mean over all t of phase p of  y_t / trend_t   (y_t - trend_t if any value is not positive)
    adjusted_t = y_t / index_{t mod m}                          (y_t - index_{t mod m})

The indices are scaled to a mean of 1 (shifted to 0). A series without a significant autocorrelation at a lag of one
season is left unchanged, by the test of the M4 competition:

    |r_m| > 1.645 sqrt((1 + 2 Σ_{i<m} r_i²) / T)

Makridakis, Spiliotis and Assimakopoulos 2020, "The M4 Competition", International Journal of Forecasting 36.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqlab.baselines.forecasting.base import Forecasts, Histories, Origins

CRITICAL = 1.645
FEWEST_SEASONS = 3
"""Seasons that a series must have before it is adjusted."""

Series = Float[np.ndarray, " steps"]


@dataclass(frozen=True)
class SeasonalAdjustment:
    """The indices of every series, by phase: the step modulo the season."""

    indices: Float[np.ndarray, "phases series"]
    multiplies: Bool[np.ndarray, " series"]

    @classmethod
    def fit(cls, train: Histories, *, season: int) -> SeasonalAdjustment:
        num_series = len(train.lengths)
        indices, multiplies = np.zeros((season, num_series)), np.zeros(num_series, dtype=bool)
        for number in range(num_series):
            values = train.series(number)
            if is_seasonal(values, season):
                multiplies[number] = bool((values > 0).all())
                indices[:, number] = seasonal_indices(values, season, multiplies=multiplies[number])
        return cls(indices, multiplies)

    def remove(self, histories: Histories) -> Histories:
        """Return the series without their seasons."""
        phases = np.arange(len(histories.values)) % len(self.indices)
        index = self.indices[phases]
        return histories.with_values(
            np.where(
                self.multiplies,
                histories.values / np.where(self.multiplies, index, 1.0),
                histories.values - index,
            )
        )

    def restore(self, forecasts: Forecasts, origins: Origins) -> Forecasts:
        """Put the seasons back into forecasts."""
        steps = origins.steps[:, None] + np.arange(forecasts.shape[1])
        index = self.indices[steps % len(self.indices), origins.series[:, None]]
        restored: Forecasts = np.where(
            self.multiplies[origins.series][:, None], forecasts * index, forecasts + index
        )
        return restored


def is_seasonal(values: Series, season: int) -> bool:
    """Whether the autocorrelation at a lag of one season is significant.

    >>> wave = np.sin(np.arange(60) * np.pi / 6)
    >>> is_seasonal(wave, 12), is_seasonal(wave, 9), is_seasonal(wave[:30], 12)
    (True, False, False)
    """
    if season < 2 or len(values) < FEWEST_SEASONS * season:
        return False
    centered = values - values.mean()
    power = float(centered @ centered)
    if power <= 0:
        return False
    correlations = np.array([centered[lag:] @ centered[:-lag] for lag in range(1, season + 1)]) / power
    limit = CRITICAL * np.sqrt((1 + 2 * (correlations[:-1] ** 2).sum()) / len(values))
    return bool(abs(correlations[-1]) > limit)


def seasonal_indices(values: Series, season: int, *, multiplies: bool) -> Float[np.ndarray, " phases"]:
    """Return the index of every phase.

    >>> seasonal_indices(np.tile([9.0, 10.0, 11.0, 10.0], 5), 4, multiplies=False).tolist()
    [-1.0, 0.0, 1.0, 0.0]
    """
    trend = centered_average(values, season)
    with np.errstate(invalid="ignore"):
        ratios = values / trend if multiplies else values - trend
    by_phase = np.full((-(-len(values) // season), season), np.nan)
    by_phase.flat[: len(values)] = ratios
    indices: Float[np.ndarray, " phases"] = np.nanmean(by_phase, axis=0)
    return indices / indices.mean() if multiplies else indices - indices.mean()


def centered_average(values: Series, season: int) -> Series:
    """Average over one season around each value; an even season has half weights at both ends. NaN near the ends."""
    weights = np.ones(season) if season % 2 else np.concatenate([[0.5], np.ones(season - 1), [0.5]])
    inner = np.convolve(values, weights / season, mode="valid")
    average = np.full(len(values), np.nan)
    average[len(weights) // 2 : len(weights) // 2 + len(inner)] = inner
    return average

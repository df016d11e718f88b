"""Exponential smoothing with a damped trend.

    ŷ_t = ℓ_{t-1} + φ b_{t-1},    e_t = y_t - ŷ_t
    ℓ_t = ŷ_t + α e_t
    b_t = φ b_{t-1} + α β e_t
    ŷ_{T+h} = ℓ_T + (φ + φ² + … + φ^h) b_T

α, β and φ come from a grid, finer in α for the second round. Given them, the errors are linear in the initial level and
trend, which are exact least squares. Seasons are removed before and put back afterwards.

Paper: Gardner and McKenzie 1985, "Forecasting trends in time series", Management Science 31.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float

from seqlab.baselines.forecasting.base import FittedMethod, ForecastMethod, Forecasts, Histories, Origins
from seqlab.baselines.forecasting.seasonal_adjustment import SeasonalAdjustment
from seqlab.baselines.forecasting.smoothing_search import least_squares_pair, refine

ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
BETAS = (0.0, 0.05, 0.2, 0.5)
"""Candidates for the smoothing of the trend, as a share of α."""
DAMPINGS = (0.8, 0.9, 0.95, 0.98)
FEWEST_FOR_TREND = 8
"""Values that a series needs before its initial trend is estimated; 0 for shorter ones."""

PerSeries = Float[np.ndarray, " series"]
Candidates = Float[np.ndarray, "3 candidates series"]


class DampedTrend(ForecastMethod):
    """Damped exponential smoothing with optimized parameters for every series."""

    name = "damped exponential smoothing"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        adjustment = SeasonalAdjustment.fit(train, season=season)
        adjusted = adjustment.remove(train)
        grid = np.array(list(product(ALPHAS, BETAS, DAMPINGS))).T[:, :, None]
        best, level, trend = _best(adjusted, np.repeat(grid, len(train.lengths), axis=2))
        alphas = refine(best[0], 1.0)
        finer = np.stack([alphas, *(np.repeat(row[None], len(alphas), axis=0) for row in best[1:])])
        best, level, trend = _best(adjusted, finer)
        return FittedDampedTrend(adjustment, best, level, trend)


@dataclass(frozen=True)
class FittedDampedTrend(FittedMethod):
    """The parameters of every series."""

    adjustment: SeasonalAdjustment
    parameters: Float[np.ndarray, "3 series"]
    """α, β and φ"""
    level: PerSeries
    trend: PerSeries

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        values = self.adjustment.remove(histories).values
        alpha, beta, damping = self.parameters
        level, trend = self.level, self.trend
        level_at, trend_at = np.empty(len(origins)), np.empty(len(origins))
        for step in range(int(origins.steps.max())):
            level, trend = _after(values[step], level, trend, alpha, beta, damping)
            here = np.flatnonzero(origins.steps == step + 1)
            level_at[here], trend_at[here] = level[origins.series[here]], trend[origins.series[here]]
        powers = np.cumsum(damping[origins.series][:, None] ** np.arange(1, horizon + 1), axis=1)
        return self.adjustment.restore(level_at[:, None] + powers * trend_at[:, None], origins)


def _after(
    value: Float[np.ndarray, "..."],
    level: Float[np.ndarray, "..."],
    trend: Float[np.ndarray, "..."],
    alpha: Float[np.ndarray, "..."],
    beta: Float[np.ndarray, "..."],
    damping: Float[np.ndarray, "..."],
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Return level and trend after one more value."""
    predicted = level + damping * trend
    correction = alpha * (value - predicted)
    return predicted + correction, damping * trend + beta * correction


def _best(
    train: Histories, candidates: Candidates
) -> tuple[Float[np.ndarray, "3 series"], PerSeries, PerSeries]:
    """Return the best α, β and φ of each series, with the initial level and trend that go with them.

    The forecast of step t is linear in them: level g_t + trend d_t + what the values before t add.
    """
    alpha, beta, damping = candidates
    values, is_known = train.values, train.is_known
    level = trend = np.zeros_like(alpha)
    of_level, of_trend = (
        (np.ones_like(alpha), np.zeros_like(alpha)),
        (np.zeros_like(alpha), np.ones_like(alpha)),
    )
    sums = np.zeros((6, *alpha.shape))
    for step in range(len(values)):
        value = np.where(is_known[step], values[step], 0.0)
        decay, slope = (part[0] + damping * part[1] for part in (of_level, of_trend))
        rest = value - level - damping * trend
        for number, term in enumerate(
            (decay**2, decay * slope, slope**2, decay * rest, slope * rest, rest**2)
        ):
            sums[number] += np.where(is_known[step], term, 0.0)
        level, trend = _after(value, level, trend, alpha, beta, damping)
        of_level = _after(np.zeros(1), *of_level, alpha, beta, damping)
        of_trend = _after(np.zeros(1), *of_trend, alpha, beta, damping)
    sums[1:3, :, train.lengths < FEWEST_FOR_TREND] = 0.0
    sums[4, :, train.lengths < FEWEST_FOR_TREND] = 0.0
    level, trend, error = least_squares_pair(sums, fallback=values[0])
    chosen = np.argmin(error, axis=0)[None]
    level, trend = (np.take_along_axis(array, chosen, axis=0)[0] for array in (level, trend))
    return np.take_along_axis(candidates, chosen[None], axis=1)[:, 0], level, trend

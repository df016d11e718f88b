"""Forecasts that repeat: the last value, the last season, or the average change.

    persistence      ŷ_{T+h} = y_T
    seasonal naive   ŷ_{T+h} = y_{T+h-m·k}          k is the smallest number of seasons of m steps that reaches back before T + 1
    drift            ŷ_{T+h} = y_T + h (y_T - y_1) / (T - 1)

Hyndman and Athanasopoulos 2021, "Forecasting: Principles and Practice", section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqlab.baselines.forecasting.base import FittedMethod, ForecastMethod, Forecasts, Histories, Origins


class Persistence(ForecastMethod, FittedMethod):
    """Repeats the last value."""

    name = "the last value"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        return self

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        last = histories.values[origins.steps - 1, origins.series]
        return np.repeat(last[:, None], horizon, axis=1)


class Drift(ForecastMethod, FittedMethod):
    """Continues the straight line from the first to the last value."""

    name = "drift"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        return self

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        first, last = histories.values[0, origins.series], histories.values[origins.steps - 1, origins.series]
        slope = (last - first) / np.maximum(origins.steps - 1, 1)
        forecasts: Forecasts = last[:, None] + slope[:, None] * np.arange(1, horizon + 1)
        return forecasts


class SeasonalNaive(ForecastMethod):
    """Repeats the last season."""

    name = "seasonal naive"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        return LastSeason(season)


@dataclass(frozen=True)
class LastSeason(FittedMethod):
    """The last season, again and again; the last value where less than a season is known."""

    season: int

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        season = np.where(origins.steps >= self.season, self.season, 1)[:, None]
        steps = origins.steps[:, None] - season + np.arange(horizon) % season
        forecasts: Forecasts = histories.values[steps, origins.series[:, None]]
        return forecasts

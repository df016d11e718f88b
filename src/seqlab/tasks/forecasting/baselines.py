"""Forecasts without a network: every method is fitted on the training part, and the best on validation data is the one to beat.

Series are arrays (steps, targets) that begin at the first training step; a window is a series number and an origin. Every
target is a series of its own for these methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.forecasting.base import FittedMethod, Histories, Origins
from seqlab.baselines.forecasting.methods import METHODS
from seqlab.baselines.forecasting.naive import SeasonalNaive
from seqlab.baselines.forecasting.naive2 import Naive2
from seqlab.core.errors import UsageError
from seqlab.metrics.forecasting import seasonal_scale

Series = Sequence[Float[np.ndarray, "steps targets"]]
Windows = Int[np.ndarray, "windows 2"]
PointForecasts = Float[np.ndarray, "windows horizon targets"]
Scales = Float[np.ndarray, "windows targets"]


@dataclass(frozen=True)
class Baselines:
    """All methods, fitted on the training part of every series."""

    fitted: Mapping[str, FittedMethod]
    horizon: int
    scales: Float[np.ndarray, "series targets"]
    """The seasonal-naive error of each series in training, the unit of MASE; NaN for a constant one."""

    @classmethod
    def fit(cls, train: Series, *, season: int, horizon: int) -> Baselines:
        """Fit in seconds. Left out: seasonal methods without a season, and what needs longer series."""
        histories = _histories(train)
        fitted = {}
        for method in METHODS:
            if season < 2 and isinstance(method, SeasonalNaive | Naive2):
                continue  # the last value again
            try:
                fitted[method.name] = method.fit(histories, season=season, horizon=horizon)
            except UsageError:
                continue
        scales = [[seasonal_scale(column, season) for column in values.T] for values in train]
        return cls(fitted, horizon, np.array(scales))

    def forecast(self, series: Series, windows: Windows) -> dict[str, PointForecasts]:
        """Forecast from every origin; the series are those of the training part, in the same order."""
        num_targets = series[0].shape[1]
        columns = windows[:, :1] * num_targets + np.arange(num_targets)  # (windows, targets)
        origins = Origins(columns.ravel(), np.repeat(windows[:, 1], num_targets))
        histories = _histories(series)
        return {
            name: method.forecast(histories, origins, horizon=self.horizon)
            .reshape(len(windows), num_targets, self.horizon)
            .swapaxes(1, 2)
            for name, method in self.fitted.items()
        }

    def scales_of(self, windows: Windows) -> Scales:
        scales: Scales = self.scales[windows[:, 0]]
        return scales


def most_accurate(forecasts: Mapping[str, PointForecasts], truth: PointForecasts, scales: Scales) -> str:
    """Return the method with the lowest mean absolute error in units of each series; of equal ones the first.

    >>> truth = np.array([[[1.0]], [[10.0]]])
    >>> most_accurate({"a": truth + [[[0.5]], [[0.0]]], "b": truth + [[[0.0]], [[2.0]]]}, truth, np.array([[1.0], [10.0]]))
    'b'
    """
    errors = {
        name: np.abs(truth - predicted) / scales[:, None] for name, predicted in forecasts.items()
    }  # NaN where the truth is missing, or the series was constant
    if not any(np.isfinite(error).any() for error in errors.values()):
        errors = {name: np.abs(truth - predicted) for name, predicted in forecasts.items()}
    means = {
        name: error[np.isfinite(error)].mean() if np.isfinite(error).any() else np.inf
        for name, error in errors.items()
    }
    return min(means, key=lambda name: means[name])


def _histories(series: Series) -> Histories:
    return Histories.of([column for values in series for column in values.T])

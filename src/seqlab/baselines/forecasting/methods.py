"""All methods, in the order of a table: from the simplest to the most elaborate."""

from __future__ import annotations

from seqlab.baselines.forecasting.base import ForecastMethod
from seqlab.baselines.forecasting.damped_trend import DampedTrend
from seqlab.baselines.forecasting.naive import Drift, Persistence, SeasonalNaive
from seqlab.baselines.forecasting.naive2 import Naive2
from seqlab.baselines.forecasting.theta import Theta
from seqlab.baselines.forecasting.window_ridge import WindowRidge

METHODS: tuple[ForecastMethod, ...] = (
    Persistence(),
    Drift(),
    SeasonalNaive(),
    Naive2(),
    Theta(),
    DampedTrend(),
    WindowRidge(),
)

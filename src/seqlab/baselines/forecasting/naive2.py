"""Naive2 of the M4 competition: the last value of the seasonally adjusted series, with its seasons put back.

OWA is relative to it. Makridakis, Spiliotis and Assimakopoulos 2020, "The M4 Competition", International Journal of
Forecasting 36, appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqlab.baselines.forecasting.base import FittedMethod, ForecastMethod, Forecasts, Histories, Origins
from seqlab.baselines.forecasting.seasonal_adjustment import SeasonalAdjustment


class Naive2(ForecastMethod):
    """Seasonally adjusted persistence."""

    name = "Naive2"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        return FittedNaive2(SeasonalAdjustment.fit(train, season=season))


@dataclass(frozen=True)
class FittedNaive2(FittedMethod):
    adjustment: SeasonalAdjustment

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        last = self.adjustment.remove(histories).values[origins.steps - 1, origins.series]
        return self.adjustment.restore(np.repeat(last[:, None], horizon, axis=1), origins)

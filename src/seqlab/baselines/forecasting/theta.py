"""The dynamic optimized theta model (DOTM): exponential smoothing plus a linear trend that is updated at every step.

    μ_t = ℓ_{t-1} + (1 - 1/θ) D_t,    D_t = (1-α)^{t-1} A_{t-1} + (1 - (1-α)^t) / α · B_{t-1}
    ℓ_t = α y_t + (1-α) ℓ_{t-1}
    ȳ_t = ((t-1) ȳ_{t-1} + y_t) / t
    B_t = ((t-2) B_{t-1} + 6 (y_t - ȳ_{t-1}) / t) / (t+1)        slope of the line through y_1 … y_t
    A_t = ȳ_t - B_t (t+1) / 2                                    its intercept

Forecasts continue the recursions with y = μ. Given α, the errors are linear in the initial level ℓ_0 and in 1 - 1/θ, so
both are exact least squares; only α is searched. Seasons are removed before and put back afterwards.

Paper: Fiorucci et al. 2016, "Models for optimising the theta method and their relationship to state space models",
International Journal of Forecasting 32, section 3. The theta method won the M3 competition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.forecasting.base import FittedMethod, ForecastMethod, Forecasts, Histories, Origins
from seqlab.baselines.forecasting.seasonal_adjustment import SeasonalAdjustment
from seqlab.baselines.forecasting.smoothing_search import GRID, least_squares_pair, refine

Numbers = Float[np.ndarray, "..."]
Indices = Int[np.ndarray, " chosen"]

SKIPPED = 3
"""Errors at the start of a series that do not count, because the trend of two or three values is arbitrary."""


class Theta(ForecastMethod):
    """Theta with optimized α, ℓ_0 and θ for every series."""

    name = "Theta"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        adjustment = SeasonalAdjustment.fit(train, season=season)
        adjusted = adjustment.remove(train)
        alpha = np.repeat(GRID[:, None], len(train.lengths), axis=1)  # (candidates, series)
        for width in (1.0, 0.15):
            best, level, share = _best(adjusted, alpha)
            alpha = refine(best, width)
        return FittedTheta(adjustment, best, level, share)


@dataclass(frozen=True)
class FittedTheta(FittedMethod):
    """The parameters of every series."""

    adjustment: SeasonalAdjustment
    alpha: Float[np.ndarray, " series"]
    level: Float[np.ndarray, " series"]
    """ℓ_0"""
    share: Float[np.ndarray, " series"]
    """1 - 1/θ, the weight of the trend"""

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        values = self.adjustment.remove(histories).values
        state = self._state_at(values, origins)
        alpha, share = self.alpha[origins.series], self.share[origins.series]
        forecasts = np.empty((len(origins), horizon))
        for step in range(horizon):
            forecasts[:, step] = state.level + share * state.trend(alpha)
            state = state.after(forecasts[:, step], alpha)
        return self.adjustment.restore(forecasts, origins)

    def _state_at(self, values: Float[np.ndarray, "steps series"], origins: Origins) -> State:
        """Run through the series once, and pick the state of each origin as it comes by."""
        state = State.start(values[0], self.level, self.alpha)
        picked = State(*(np.empty(len(origins)) for _ in range(5)))
        for step in range(1, int(origins.steps.max()) + 1):
            if step > 1:
                state = state.after(values[step - 1], self.alpha)
            here = np.flatnonzero(origins.steps == step)
            picked.put(here, state, origins.series[here])
        return picked


@dataclass
class State:
    """What the recursions carry from step to step."""

    level: Numbers
    mean: Numbers
    intercept: Numbers
    slope: Numbers
    steps: Numbers
    """t: how many values have been seen"""

    @classmethod
    def start(cls, first: Numbers, level: Numbers, alpha: Numbers) -> State:
        """Return the state after the first value."""
        return cls(
            alpha * first + (1 - alpha) * level, first, first, np.zeros_like(first), np.ones_like(first)
        )

    def trend(self, alpha: Numbers) -> Numbers:
        """D of the next step."""
        kept = (1 - alpha) ** self.steps
        return kept * self.intercept + (1 - kept * (1 - alpha)) / alpha * self.slope

    def after(self, value: Numbers, alpha: Numbers) -> State:
        """Return the state after one more value."""
        steps = self.steps + 1
        mean = (self.steps * self.mean + value) / steps
        slope = ((steps - 2) * self.slope + 6 * (value - self.mean) / steps) / (steps + 1)
        level = alpha * value + (1 - alpha) * self.level
        return State(level, mean, mean - slope * (steps + 1) / 2, slope, steps)

    def put(self, places: Indices, source: State, columns: Indices) -> None:
        """Copy the state of some series to given places."""
        for name in ("level", "mean", "intercept", "slope", "steps"):
            getattr(self, name)[places] = getattr(source, name)[columns]


def _best(
    train: Histories, alpha: Float[np.ndarray, "candidates series"]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the best α of each series, with the initial level and the trend's weight that go with it.

    With ℓ_0 = 0, the error is r_t = y_t - ℓ_{t-1}, and y_t - μ_t = r_t - ℓ_0 g_t - w D_t with g_t = (1-α)^{t-1}.
    """
    values, is_known = train.values, train.is_known
    state = State.start(values[0], np.zeros_like(alpha), alpha)
    sums = np.zeros((6, *alpha.shape))
    for step in range(1, len(values)):
        if step >= SKIPPED:
            decay, trend = (1 - alpha) ** step, state.trend(alpha)
            rest = values[step] - state.level
            products = (decay**2, decay * trend, trend**2, decay * rest, trend * rest, rest**2)
            for number, product in enumerate(products):
                sums[number] += np.where(is_known[step], product, 0.0)
        state = state.after(np.where(is_known[step], values[step], 0.0), alpha)
    level, share, error = least_squares_pair(sums, fallback=values[0], lowest=0.0, highest=1.0)
    chosen = np.argmin(error, axis=0)[None]
    best, level, share = (np.take_along_axis(array, chosen, axis=0)[0] for array in (alpha, level, share))
    return best, level, share

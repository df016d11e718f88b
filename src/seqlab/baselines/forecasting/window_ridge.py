"""Ridge regression from a window of past values to all steps of the horizon, fitted on all series together.

    x = (window - offset) / scale          offset: the last value, the mean of the window, or 0
    ŷ = offset + scale · x W               W = (XᵀX + λ I)⁻¹ Xᵀ Y

The scale of a series is its mean absolute seasonal change, so that every series counts as it does in MASE. Window, offset and
λ have the lowest mean absolute error on the last part of the training values. In closed form, the linear forecasters NLinear
and DLinear are this regression: Toner and Darlow 2024, "An Analysis of Linear Time Series Forecasting Models",
arXiv:2403.14587.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqlab.baselines.forecasting.base import FittedMethod, ForecastMethod, Forecasts, Histories, Origins
from seqlab.core.errors import UsageError

MOST_WINDOWS = 20_000
"""Training windows; more are thinned out evenly."""
MOST_CHECKED = 5_000
"""Windows on which the settings are chosen."""
MOST_STEPS = 512
HELD_OUT = 0.2
"""The share of each series, at its end, on which the settings are chosen."""
STRENGTHS = tuple(10.0**power for power in range(-4, 4))
"""λ, relative to the mean square of the inputs."""

Windows = Float[np.ndarray, "windows steps"]
Offset = Callable[[Windows], Float[np.ndarray, "windows 1"]]
OFFSETS: dict[str, Offset] = {
    "last value": lambda windows: windows[:, -1:],
    "window mean": lambda windows: windows.mean(axis=1, keepdims=True),
    "none": lambda windows: np.zeros((len(windows), 1)),
}


class WindowRidge(ForecastMethod):
    """One linear map for all series, from a window to the horizon."""

    name = "ridge on the window"

    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        scale = _scales(train, season)
        best: tuple[float, int, str, float] | None = None
        for size in window_sizes(train, season=season, horizon=horizon):
            inner, held_out = _origins(train, size, horizon)
            if not (len(inner) and len(held_out)):
                continue
            for name, offset in OFFSETS.items():
                fitting, checking = (
                    _examples(train, part, size, horizon, offset, scale) for part in (inner, held_out)
                )
                for strength, weights in solutions(*fitting):
                    error = float(np.abs(checking[0] @ weights - checking[1]).mean())
                    if best is None or error < best[0]:
                        best = error, size, name, strength
        if best is None:
            raise UsageError(
                f"no series has enough values for a window and {horizon} steps to forecast.",
                cure="Use longer series or a smaller horizon.",
            )
        _, size, name, strength = best
        everything = _origins(train, size, horizon, held_out=0.0)[0]
        inputs, targets = _examples(train, everything, size, horizon, OFFSETS[name], scale)
        weights = next(found for _, found in solutions(inputs, targets, strengths=(strength,)))
        return FittedWindowRidge(weights, name, scale)


@dataclass(frozen=True)
class FittedWindowRidge(FittedMethod):
    weights: Float[np.ndarray, "steps horizon"]
    offset: str
    scale: Float[np.ndarray, " series"]

    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        windows = windows_before(histories, origins, len(self.weights))
        offset, scale = OFFSETS[self.offset](windows), self.scale[origins.series][:, None]
        forecasts: Forecasts = offset + ((windows - offset) / scale @ self.weights) * scale
        return forecasts


def window_sizes(train: Histories, *, season: int, horizon: int) -> list[int]:
    """Return candidates: around the horizon and the season, as far as half of the longest series allows."""
    longest = min(MOST_STEPS, int(train.lengths.max()) // 2)
    wanted = {horizon, 2 * horizon, 4 * horizon, season, 2 * season, 7 * season, 16, 64, 336}
    return sorted({size for size in wanted if 2 <= size <= longest}) or [max(1, longest)]


def windows_before(histories: Histories, origins: Origins, size: int) -> Windows:
    """Return the values before each origin; what is missing at the start of a series is its first value."""
    steps = np.maximum(origins.steps[:, None] - size + np.arange(size), 0)
    windows: Windows = histories.values[steps, origins.series[:, None]]
    return windows


def solutions(
    inputs: Windows, targets: Float[np.ndarray, "windows horizon"], *, strengths: Sequence[float] = STRENGTHS
) -> Iterator[tuple[float, Float[np.ndarray, "steps horizon"]]]:
    """Yield the regression for each strength; one eigendecomposition serves them all."""
    power, directions = np.linalg.eigh(inputs.T @ inputs)
    projected = directions.T @ (inputs.T @ targets)
    unit = float(power.mean()) or 1.0
    for strength in strengths:
        yield strength, directions @ (projected / (np.maximum(power, 0) + strength * unit)[:, None])


def _scales(train: Histories, season: int) -> Float[np.ndarray, " series"]:
    """Return the mean absolute seasonal change of each series; of one that only repeats itself the mean absolute value, or 1."""
    lag = np.where(train.lengths > season, season, 1)
    scales = np.ones(len(train.lengths))
    for number, steps in enumerate(lag):
        values = train.series(number)
        sizes = (np.abs(values[steps:] - values[:-steps]), np.abs(values))
        scales[number] = next((size.mean() for size in sizes if size.any()), 1.0)
    return scales


def _origins(
    train: Histories, size: int, horizon: int, *, held_out: float = HELD_OUT
) -> tuple[Origins, Origins]:
    """Return the origins to fit on and those to choose settings on, with a full window and horizon inside each part."""
    ends = (train.lengths * (1 - held_out)).astype(np.int64)
    inner = [np.arange(size, end - horizon + 1) for end in ends]
    later = [
        np.arange(max(end, size), last - horizon + 1) for end, last in zip(ends, train.lengths, strict=True)
    ]
    return _collect(inner, MOST_WINDOWS), _collect(later, MOST_CHECKED)


def _collect(steps: Sequence[np.ndarray], most: int) -> Origins:
    series = np.repeat(np.arange(len(steps)), [len(some) for some in steps])
    every = -(-len(series) // most) or 1
    return Origins(series[::every], np.concatenate(steps)[::every])


def _examples(
    train: Histories,
    origins: Origins,
    size: int,
    horizon: int,
    offset: Offset,
    scale: Float[np.ndarray, " series"],
) -> tuple[Windows, Float[np.ndarray, "windows horizon"]]:
    windows = windows_before(train, origins, size)
    steps = origins.steps[:, None] + np.arange(horizon)
    targets = train.values[steps, origins.series[:, None]]
    level, unit = offset(windows), scale[origins.series][:, None]
    return (windows - level) / unit, (targets - level) / unit

"""A forecast as rows of a table, one for each time and target, and as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from seqlab.pages.charts.fan_chart import FanChart
from seqlab.tasks.forecasting.report import HISTORY_HORIZONS, SHORTEST_HISTORY, fan_bands, plain_values

BOUNDS = {"lower_80": 0.1, "upper_80": 0.9, "lower_95": 0.025, "upper_95": 0.975}
COLUMNS = ("series", "time", "target", "median", *BOUNDS)

Forecast = Float[np.ndarray, "horizon targets levels"]


def forecast_rows(
    series: str, times: Sequence[str], targets: Sequence[str], quantiles: Forecast, levels: Sequence[float]
) -> Iterator[dict[str, str | float | None]]:
    """Yield the columns of every time and target; a bound whose level is not predicted is None."""
    places = {name: list(levels).index(level) for name, level in BOUNDS.items() if level in levels}
    middle = list(levels).index(0.5)
    for time, by_target in zip(times, quantiles, strict=True):
        for target, values in zip(targets, by_target, strict=True):
            yield {
                "series": series,
                "time": time,
                "target": target,
                "median": float(values[middle]),
                **{name: float(values[places[name]]) if name in places else None for name in BOUNDS},
            }


def forecast_charts(
    series: str,
    *,
    times: Sequence[str],
    history: Float[np.ndarray, "steps targets"],
    targets: Sequence[str],
    quantiles: Forecast,
    levels: Sequence[float],
) -> list[FanChart]:
    """Return a chart for each target. times: those of the history, then of the horizon."""
    shown = min(len(history), max(SHORTEST_HISTORY, HISTORY_HORIZONS * len(quantiles)))
    first = len(history) - shown
    return [
        FanChart(
            f"{series}, {target}" if series else target,
            target,
            list(times[first:]),
            plain_values(history[first:, number]),
            quantiles[:, number, list(levels).index(0.5)].tolist(),
            fan_bands(quantiles[:, number], levels),
        )
        for number, target in enumerate(targets)
    ]

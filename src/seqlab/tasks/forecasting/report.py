"""Report sections from arrays: forecasts with bands, errors by step and by series, residuals, all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.items import Items
from seqlab.metrics.paired_difference import phrase
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.charts.fan_chart import Band, FanChart
from seqlab.pages.charts.ticks import widen_range
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.forecast_errors import Residuals, SeriesError, StepErrors, StepLine, WorstSeries
from seqlab.pages.sections.forecast_methods import ForecastMethods, MethodLine
from seqlab.pages.sections.forecasts import ForecastExamples
from seqlab.tasks.forecasting.conformal import bands
from seqlab.tasks.forecasting.future_times import time_text
from seqlab.tasks.forecasting.scores import ForecastTruth, forecast_items

NETWORK = "network"
EXAMPLES, HISTORY_HORIZONS, SHORTEST_HISTORY = 6, 3, 30
"""Charts of forecasts, and the history in each: some horizons, but not less than some steps."""
WORST, BINS, DOTS = 10, 30, 1000
SHOWN_COVERAGES = (0.95, 0.8)
TABLE_SCORES = {"mae": "MAE", "rmse": "RMSE", "mase": "MASE", "smape": "sMAPE"}

PointForecasts = Float[np.ndarray, "windows horizon targets"]


@dataclass(frozen=True, eq=False)
class ScoredForecasts:
    """The forecasts of a split by the network and by every other method, with what names and times they need."""

    truth: ForecastTruth
    windows: Int[np.ndarray, "windows 2"]
    quantiles: Float[np.ndarray, "windows horizon targets levels"]
    levels: Sequence[float]
    methods: Mapping[str, PointForecasts]
    """By name, without the network"""
    baseline: str
    series: Sequence[Float[np.ndarray, "steps targets"]]
    names: Sequence[str]
    """Of the series"""
    times: Sequence[np.ndarray]
    """Of the steps of each series: datetime64, or integers"""
    targets: Sequence[str]

    @property
    def median(self) -> PointForecasts:
        middle: PointForecasts = self.quantiles[..., list(self.levels).index(0.5)]
        return middle

    @property
    def unit(self) -> str:
        """What errors are measured in."""
        return self.targets[0] if len(self.targets) == 1 else "seasonal-naive errors"

    @property
    def points(self) -> dict[str, PointForecasts]:
        """The network and every other method."""
        return {NETWORK: self.median, **self.methods}


def forecast_sections(forecasts: ScoredForecasts) -> list[ReportSection]:
    return [
        methods_section(forecasts),
        examples_section(forecasts),
        steps_section(forecasts),
        series_section(forecasts),
        residuals_section(forecasts),
    ]


def methods_section(forecasts: ScoredForecasts) -> ForecastMethods:
    """Return the scores of every method, and how the network compares with it."""
    points = forecasts.points
    items = {name: _point_items(forecasts.truth, values) for name, values in points.items()}
    first = "mase" if forecasts.truth.has_many_series and "mase" in items[NETWORK] else "mae"
    names = sorted((name for name in TABLE_SCORES if name in items[NETWORK]), key=lambda name: name != first)
    lines = [
        MethodLine(
            method,
            {TABLE_SCORES[name]: of_method[name].full_score() for name in names},
            ""
            if method == NETWORK
            else _verdict(items[NETWORK][first], of_method[first], forecasts.truth.unit),
        )
        for method, of_method in items.items()
    ]
    return ForecastMethods(forecasts.unit, forecasts.baseline, lines)


def examples_section(forecasts: ScoredForecasts) -> ForecastExamples:
    """Return evenly spaced forecasts of all targets in turn."""
    count = len(forecasts.windows)
    places = np.unique(np.linspace(0, count - 1, min(EXAMPLES, count)).round().astype(int))
    return ForecastExamples(
        [fan_chart(forecasts, int(place), turn % len(forecasts.targets)) for turn, place in enumerate(places)]
    )


def fan_chart(forecasts: ScoredForecasts, place: int, target: int) -> FanChart:
    """Return one forecast as a chart."""
    number, origin = map(int, forecasts.windows[place])
    horizon = forecasts.quantiles.shape[1]
    first = max(0, origin - max(SHORTEST_HISTORY, HISTORY_HORIZONS * horizon))
    times = [time_text(time) for time in forecasts.times[number][first : origin + horizon]]
    name = f"{forecasts.names[number]}, " if forecasts.names[number] else ""
    return FanChart(
        f"{name}{forecasts.targets[target]} from {times[origin - first]}",
        forecasts.targets[target],
        times,
        plain_values(forecasts.series[number][first:origin, target]),
        forecasts.median[place, :, target].tolist(),
        fan_bands(forecasts.quantiles[place, :, target], forecasts.levels),
        plain_values(forecasts.truth.values[place, :, target]),
        forecasts.methods[forecasts.baseline][place, :, target].tolist(),
        forecasts.baseline,
    )


def fan_bands(quantiles: Float[np.ndarray, "horizon levels"], levels: Sequence[float]) -> list[Band]:
    """Return the bands of 95% and 80%, as far as their levels are predicted; otherwise the widest one."""
    every = [
        Band(round(levels[high] - levels[low], 9), quantiles[:, low].tolist(), quantiles[:, high].tolist())
        for low, high in bands(levels)
    ]
    return [band for band in every if band.share in SHOWN_COVERAGES] or every[:1]


def steps_section(forecasts: ScoredForecasts) -> StepErrors:
    """Return the error of the network and of the methods by step, and the coverage of its bands."""
    truth, scale = forecasts.truth.values, forecasts.truth.unit_scales[:, None]
    errors = [
        StepLine(name, _mean_by_step(np.abs(truth - values) / scale))
        for name, values in forecasts.points.items()
    ]
    coverage = []
    for low, high in bands(forecasts.levels):
        share = round(forecasts.levels[high] - forecasts.levels[low], 9)
        if share in SHOWN_COVERAGES:
            is_within = (forecasts.quantiles[..., low] <= truth) & (truth <= forecasts.quantiles[..., high])
            by_step = _mean_by_step(np.where(np.isfinite(truth), is_within, np.nan))
            coverage.append(StepLine(f"{share:.0%} band", by_step, share))
    return StepErrors(forecasts.unit, errors, coverage)


def series_section(forecasts: ScoredForecasts) -> WorstSeries:
    """Return the series on which the network is worst, in units of their seasonal-naive error."""
    truth, numbers = forecasts.truth, forecasts.windows[:, 0]
    points = (forecasts.median, forecasts.methods[forecasts.baseline])
    errors = [np.abs(truth.values - values) / truth.scales[:, None] for values in points]
    lines = []
    for number in np.unique(numbers):
        network, baseline = (error[numbers == number] for error in errors)
        if np.isfinite(network).any():
            of_network, of_baseline = (float(np.nanmean(values)) for values in (network, baseline))
            lines.append(SeriesError(forecasts.names[number], of_network, of_baseline, len(network)))
    worst = sorted(lines, key=lambda line: -line.network)[:WORST]
    better = sum(line.network < line.baseline for line in lines)
    return WorstSeries("MASE", forecasts.baseline, len(lines), better, worst)


def residuals_section(forecasts: ScoredForecasts) -> Residuals:
    """Return the residuals of all steps as a histogram, and those of the first step over time."""
    residuals = (forecasts.truth.values - forecasts.median) / forecasts.truth.unit_scales[:, None]
    known = residuals[np.isfinite(residuals)]
    ends = widen_range(float(known.min(initial=0.0)), float(known.max(initial=0.0)))
    counts, edges = np.histogram(known, bins=BINS, range=ends)
    first = residuals[:, 0, 0]
    times = np.array([forecasts.times[number][origin] for number, origin in forecasts.windows])
    places = np.flatnonzero(np.isfinite(first))
    places = places[np.unique(np.linspace(0, len(places) - 1, min(DOTS, len(places))).round().astype(int))]
    places = places[np.argsort(times[places], kind="stable")]
    target = f" of {forecasts.targets[0]}" if len(forecasts.targets) > 1 else ""
    return Residuals(
        forecasts.unit,
        f"first step{target}",
        edges.tolist(),
        counts.tolist(),
        [time_text(time) for time in times[places]],
        first[places].tolist(),
    )


def _point_items(truth: ForecastTruth, values: PointForecasts) -> dict[str, Items]:
    items = forecast_items(truth, values[..., None], [0.5])
    return {name: items[name] for name in TABLE_SCORES if name in items}


def _verdict(network: Items, method: Items, unit: str) -> str:
    score = score_with_interval(
        "", network, baseline=method, baseline_name=" ", higher_is_better=False, unit=unit
    )
    if score.verdict is None or score.verdict == "incomparable":
        return ""
    if score.verdict == "too few":
        return f"too few {unit}"
    return phrase(score.verdict, "").replace(" than ", "").replace(" to ", "")


def _mean_by_step(values: Float[np.ndarray, "windows horizon targets"]) -> list[float]:
    """Means of what is known, for each step; 0 where nothing is."""
    is_known = np.isfinite(values)
    counts = np.maximum(is_known.sum(axis=(0, 2)), 1)
    means: list[float] = (np.where(is_known, values, 0.0).sum(axis=(0, 2)) / counts).tolist()
    return means


def plain_values(values: Float[np.ndarray, " steps"]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]

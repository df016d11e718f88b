"""Fan charts as SVG: the history of a series, its forecast with bands, and what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.downsample import downsample, split_at_gaps
from seqlab.pages.charts.line_chart import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    draw_axis_titles,
    draw_rows,
    draw_x_ticks,
    left_margin,
)
from seqlab.pages.charts.ticks import is_drawable, round_range, tick_labels, widen_range
from seqlab.pages.charts.time_axis import time_numbers, time_range, time_ticks
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number

Values = Sequence[float | None]
INK, FORECAST, BASELINE = "var(--ink)", "var(--c0)", "var(--c1)"
OPACITY = 0.2
"""Of a band; a narrower one lies on top of the wider ones."""


@dataclass(frozen=True)
class Band:
    """The bounds that hold a share of the future, for every step of the horizon."""

    share: float
    low: Sequence[float]
    high: Sequence[float]

    @property
    def name(self) -> str:
        return f"{self.share:.0%} band"


@dataclass(frozen=True)
class FanChart:
    """One forecast; `times` are those of the history, then of the horizon. A missing value is None."""

    title: str
    y_label: str
    times: Sequence[str]
    history: Values
    median: Sequence[float]
    bands: Sequence[Band]
    """Widest first."""
    truth: Values = ()
    baseline: Sequence[float] = ()
    baseline_name: str = ""

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(**{**value, "bands": [Band(**band) for band in value["bands"]]})


def draw_fan_chart(chart: FanChart, *, ident: str) -> Markup:
    """One forecast as a figure: title, legend, SVG."""
    xs = time_numbers(chart.times)
    x_axis, y_axis = _axes(chart, xs)
    cut = len(chart.history)
    line = _Lines(x_axis, y_axis, xs)
    origin = chart.history[-1] if chart.history else None
    parts = [
        *[line.area([origin, *band.low], [origin, *band.high], cut - 1) for band in chart.bands],
        line.path(chart.history, 0, INK, width=1.4),
        line.path([origin, *chart.truth], cut - 1, INK, width=1.4) if chart.truth else "",
        line.path([origin, *chart.baseline], cut - 1, BASELINE, dash="5 4") if chart.baseline else "",
        line.path([origin, *chart.median], cut - 1, FORECAST, width=2.2),
    ]
    svg = tag(
        "svg",
        tag("title", chart.title, id=f"{ident}-title"),
        tag("desc", describe_fan_chart(chart), id=f"{ident}-desc"),
        draw_rows(x_axis, y_axis),
        draw_x_ticks(x_axis, time_ticks(chart.times)),
        draw_axis_titles(time_range(chart.times), chart.y_label),
        *parts,
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )
    return tag("figure", tag("h3", chart.title), fan_legend(chart), svg, class_="chart-box")


def describe_fan_chart(chart: FanChart) -> str:
    """
    >>> describe_fan_chart(FanChart("t", "°C", ["2017-01-01", "2017-01-02"], [9.0], [10.0], [Band(0.8, [8.5], [11.5])], [12.0]))
    'The median forecast for 2017-01-02 is 10.00 °C, with an 80% band from 8.500 to 11.50; the true value is 12.00.'
    """
    text = f"The median forecast for {chart.times[-1]} is {format_number(chart.median[-1])} {chart.y_label}"
    if chart.bands:
        band = chart.bands[-1]
        article = "an" if f"{band.share:.0%}".startswith("8") else "a"
        text += f", with {article} {band.name} from {format_number(band.low[-1])} to {format_number(band.high[-1])}"
    last = chart.truth[-1] if chart.truth else None
    return text + ("." if last is None else f"; the true value is {format_number(last)}.")


def fan_legend(chart: FanChart) -> Markup:
    entries = [
        _entry("history and truth" if chart.truth else "history", INK),
        _entry("median forecast", FORECAST),
        *(
            _entry(band.name, FORECAST, opacity=1 - (1 - OPACITY) ** depth)
            for depth, band in reversed(list(enumerate(chart.bands, start=1)))
        ),
    ]
    if chart.baseline:
        entries.append(_entry(chart.baseline_name, BASELINE, dash="5 4"))
    return tag("ul", *entries, class_="legend")


def _entry(name: str, color: str, *, opacity: float | None = None, dash: str | None = None) -> Markup:
    shape = (
        tag(
            "path",
            d="M0 5L22 5",
            style=f"fill: none; stroke: {color}; stroke-width: 2",
            stroke_dasharray=dash,
        )
        if opacity is None
        else tag("rect", x=0, y=0, width=22, height=10, style=f"fill: {color}; fill-opacity: {opacity}")
    )
    swatch = tag("svg", shape, viewBox="0 0 22 10", width=22, height=10, aria_hidden="true")
    return tag("li", swatch, " ", name)


def time_x_axis(xs: Sequence[float], y_axis: Axis) -> Axis:
    """The axis of times beside a y axis and its labels."""
    left, right = widen_range(min(xs), max(xs))
    return Axis(left, right, left_margin(tick_labels(y_axis.ticks())), WIDTH - RIGHT)


def y_axis_of(values: Sequence[float | None]) -> Axis:
    """An axis that holds all values and ends on ticks."""
    known = [value for value in values if value is not None and is_drawable(value)] or [0.0]
    low, high = round_range(min(known), max(known))
    return Axis(low, high, HEIGHT - BOTTOM, TOP)


def _axes(chart: FanChart, xs: Sequence[float]) -> tuple[Axis, Axis]:
    values = [*chart.history, *chart.truth, *chart.median, *chart.baseline]
    y_axis = y_axis_of([*values, *(value for band in chart.bands for value in (*band.low, *band.high))])
    return time_x_axis(xs, y_axis), y_axis


@dataclass(frozen=True)
class _Lines:
    """Values at consecutive times as shapes."""

    x_axis: Axis
    y_axis: Axis
    xs: Sequence[float]

    def points(self, values: Values, first: int) -> list[tuple[float, float] | None]:
        return [
            (self.x_axis.to_pixel(self.xs[step]), self.y_axis.to_pixel(value))
            if value is not None and step >= 0 and is_drawable(value)
            else None
            for step, value in enumerate(values, start=first)
        ]

    def path(
        self, values: Values, first: int, color: str, *, width: float = 1.6, dash: str | None = None
    ) -> Markup:
        runs = split_at_gaps(self.points(values, first))
        shape = " ".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in downsample(run)) for run in runs)
        style = f"fill: none; stroke: {color}; stroke-width: {width}; stroke-linejoin: round"
        return tag("path", d=Markup(shape), style=style, stroke_dasharray=dash)

    def area(self, low: Values, high: Values, first: int) -> Markup:
        pairs = zip(self.points(low, first), self.points(high, first), strict=True)
        known = [(below, above) for below, above in pairs if below is not None and above is not None]
        around = [below for below, _ in known] + [above for _, above in known[::-1]]
        shape = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in around) + "Z" if around else ""
        return tag("path", d=Markup(shape), style=f"fill: {FORECAST}; fill-opacity: {OPACITY}")

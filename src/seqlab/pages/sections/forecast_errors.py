"""Where forecasts are wrong: by step of the horizon, by series, and how the residuals are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.fan_chart import time_x_axis, y_axis_of
from seqlab.pages.charts.histogram import draw_histogram
from seqlab.pages.charts.line_chart import (
    HEIGHT,
    WIDTH,
    draw_axis_titles,
    draw_line_chart,
    draw_rows,
    draw_x_ticks,
)
from seqlab.pages.charts.time_axis import time_numbers, time_range, time_ticks
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import count_of, format_number, format_percent
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class StepLine:
    """One value for every step of the horizon."""

    name: str
    values: Sequence[float]
    nominal: float | None = None
    """What the values should be, for the coverage of a band."""


@report_sections.register("forecast_steps")
@dataclass(frozen=True)
class StepErrors(ReportSection):
    """Mean absolute error of each method, and coverage of each band, by step of the horizon."""

    kind = "forecast_steps"
    title = "Errors and coverage by step"
    position = 42
    unit: str
    errors: Sequence[StepLine]
    coverage: Sequence[StepLine]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        errors, coverage = ([StepLine(**line) for line in value[name]] for name in ("errors", "coverage"))
        return cls(value["unit"], errors, coverage)

    def lines(self) -> list[str]:
        lines = [f"    mean absolute error by step ({self.unit}):"]
        lines += [f"        {line.name}: {_steps_text(line.values, format_number)}" for line in self.errors]
        lines += [
            f"    coverage of the {line.name} by step: {_steps_text(line.values, format_percent)}"
            for line in self.coverage
        ]
        return lines

    def html(self) -> Markup:
        errors = LineChart(
            "Error by step of the horizon",
            "step of the horizon",
            f"mean absolute error ({self.unit})",
            [_series(line) for line in self.errors],
            is_over_time=False,
        )
        coverage = LineChart(
            "Coverage by step of the horizon",
            "step of the horizon",
            "share of true values within the band",
            [_series(line) for line in self.coverage],
            references=[
                ReferenceLine("nominal", line.nominal) for line in self.coverage if line.nominal is not None
            ],
            is_over_time=False,
        )
        explanation = (
            "A band is right if its line stays near the dashed line of its nominal coverage: below it the"
            " forecasts are overconfident, above it the bands are wider than necessary."
        )
        figures = [draw_line_chart(errors, ident="error-by-step")]
        if self.coverage:
            figures.append(draw_line_chart(coverage, ident="coverage-by-step"))
        return tag("div", tag("p", explanation, class_="quiet"), tag("div", *figures, class_="charts"))


@dataclass(frozen=True)
class SeriesError:
    """The error of the network and of the baseline on one series."""

    name: str
    network: float
    baseline: float
    forecasts: int


@report_sections.register("forecast_series")
@dataclass(frozen=True)
class WorstSeries(ReportSection):
    """The series with the largest errors."""

    kind = "forecast_series"
    title = "Errors by series"
    position = 44
    score: str
    baseline_name: str
    num_series: int
    better: int
    """Series on which the network beats the baseline"""
    worst: Sequence[SeriesError]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(**{**value, "worst": [SeriesError(**line) for line in value["worst"]]})

    def html(self) -> Markup | None:
        if self.num_series < 2:
            return None
        summary = (
            f"The network has the smaller error on {self.better:,} of {self.num_series:,} series."
            f" Largest errors of the network ({self.score}):"
        )
        heads = ["series", "network", self.baseline_name, "forecasts"]
        rows = [
            [line.name, format_number(line.network), format_number(line.baseline), f"{line.forecasts:,}"]
            for line in self.worst
        ]
        return tag("div", tag("p", summary), table(heads, rows))


@report_sections.register("forecast_residuals")
@dataclass(frozen=True)
class Residuals(ReportSection):
    """Truth minus median: a histogram, and the values over time."""

    kind = "forecast_residuals"
    title = "Residuals"
    position = 46
    unit: str
    step: str
    """Which steps of the horizon the residuals over time belong to"""
    edges: Sequence[float]
    counts: Sequence[int]
    times: Sequence[str]
    values: Sequence[float]

    def html(self) -> Markup | None:
        if not self.values:
            return None
        explanation = (
            "Truth minus median forecast. Residuals around zero without a pattern over time are what is left"
            " when nothing more can be predicted; a run on one side of zero is a level that the network misses."
        )
        histogram = draw_histogram(
            self.edges,
            self.counts,
            title="Residuals of all steps",
            x_label=f"truth - median ({self.unit})",
            y_label="forecasts",
            ident="residual-histogram",
        )
        return tag(
            "div",
            tag("p", explanation, class_="quiet"),
            tag("div", histogram, self._over_time(), class_="charts"),
        )

    def _over_time(self) -> Markup:
        xs = time_numbers(self.times)
        y_axis = y_axis_of([*self.values, 0.0])
        x_axis = time_x_axis(xs, y_axis)
        dots = [
            tag(
                "circle",
                tag("title", f"{time}: {format_number(value)}"),
                cx=round(x_axis.to_pixel(x), 1),
                cy=round(y_axis.to_pixel(value), 1),
                r=1.8,
            )
            for time, x, value in zip(self.times, xs, self.values, strict=True)
        ]
        zero = y_axis.to_pixel(0.0)
        title = f"Residuals over time, {self.step}"
        svg = tag(
            "svg",
            tag("title", title, id="residual-times-title"),
            tag(
                "desc",
                f"{count_of(len(dots), 'residual')}, {time_range(self.times)}.",
                id="residual-times-desc",
            ),
            draw_rows(x_axis, y_axis),
            draw_x_ticks(x_axis, time_ticks(self.times)),
            draw_axis_titles(time_range(self.times), f"truth - median ({self.unit})"),
            tag("g", *dots, style="--series: var(--c0); opacity: .6"),
            tag("line", x1=x_axis.start, x2=x_axis.end, y1=zero, y2=zero, class_="reference"),
            class_="chart",
            viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
            role="img",
            aria_labelledby="residual-times-title residual-times-desc",
        )
        return tag("figure", tag("h3", title), svg, class_="chart-box")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A table whose first column is text, and whose others are numbers."""
    head = [tag("th", name, scope="col", class_="num" if place else None) for place, name in enumerate(heads)]
    body = [
        tag("tr", tag("th", row[0], scope="row"), *[tag("td", cell, class_="num") for cell in row[1:]])
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body)), class_="scroll")


def _series(line: StepLine) -> LineSeries:
    return LineSeries(line.name, list(range(1, len(line.values) + 1)), line.values)


def _steps_text(values: Sequence[float], show: Any) -> str:
    """The first, the middle and the last step.

    >>> _steps_text([0.5, 1.0, 1.5, 2.0, 4.0], format_number)
    '0.500 (step 1), 1.500 (step 3), 4.000 (step 5)'
    """
    steps = sorted({0, len(values) // 2, len(values) - 1})
    return ", ".join(f"{show(values[step])} (step {step + 1})" for step in steps)

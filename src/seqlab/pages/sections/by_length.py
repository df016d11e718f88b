"""A score of several models by input length: one line for each model, and a table with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.interval_rows import IntervalRow
from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_fixed
from seqlab.pages.report_data import LineChart, LineSeries


@dataclass(frozen=True)
class LengthLine:
    """One model: a value with its interval for each part of the data; the names of the parts are those of the
    length ranges.
    """

    name: str
    intervals: Sequence[IntervalRow]


@dataclass(frozen=True)
class LengthChart:
    """The same parts for all models: the mean length of each, and its number of items."""

    score: str
    unit: str
    mean_lengths: Sequence[float]
    counts: Sequence[int]
    lines: Sequence[LengthLine]


def by_length_section(chart: LengthChart) -> Markup:
    name = chart.score.replace("_", " ")
    series = [
        LineSeries(line.name, chart.mean_lengths, [interval.value for interval in line.intervals])
        for line in chart.lines
    ]
    curve = LineChart(f"{name} by source length", f"{chart.unit} in the source", name, series)
    explanation = (
        "Each group is scored like the whole test set, with its 95% CI; each point is at the mean length"
        " of its group."
    )
    figure = tag("div", draw_line_chart(curve, ident="by-length"), class_="charts")
    return tag("div", tag("p", explanation, class_="quiet"), figure, _table(chart))


def _table(chart: LengthChart) -> Markup:
    heads = [f"{chart.unit} in the source", "rows", *(line.name for line in chart.lines)]
    head = tag(
        "tr",
        *[tag("th", name, scope="col", class_="num" if index else None) for index, name in enumerate(heads)],
    )
    body = []
    for index, count in enumerate(chart.counts):
        cells = [f"{count:,}", *(format_interval(line.intervals[index]) for line in chart.lines)]
        body.append(
            tag(
                "tr",
                tag("th", chart.lines[0].intervals[index].name),
                *[tag("td", cell, class_="num") for cell in cells],
            )
        )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def format_interval(interval: IntervalRow) -> str:
    """
    >>> format_interval(IntervalRow("1–5", 31.416, 29.0, 33.5)), format_interval(IntervalRow("1–5", 0.5))
    ('31.42 [29.00, 33.50]', '0.5000')
    """
    decimals = 4 if abs(interval.value) < 10 else 2
    if interval.low is None or interval.high is None:
        return format_fixed(interval.value, decimals)
    return (
        f"{format_fixed(interval.value, decimals)} [{format_fixed(interval.low, decimals)},"
        f" {format_fixed(interval.high, decimals)}]"
    )

"""The page of a learning-rate range test: the loss by rate, the suggestion, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, render_page
from seqlab.pages.report_data import LineChart, LineSeries, VerticalMarker
from seqlab.pages.study import Row, number_table

TITLE = "Learning-rate range test"
CEILING = 1.5
"""Losses are drawn up to this many times the first one: those of a divergence would flatten the rest."""


def rate_chart(
    rates: Sequence[float], losses: Sequence[float], smoothed: Sequence[float], marks: Mapping[str, float]
) -> LineChart:
    """marks: rates to mark, by name."""
    ceiling = CEILING * max(smoothed[:1], default=0.0)
    series = [
        _below(LineSeries("loss of the batch", rates, losses), ceiling),
        _below(LineSeries("smoothed", rates, smoothed), ceiling),
    ]
    return LineChart(
        TITLE,
        "learning rate",
        "loss",
        series,
        log_x=True,
        marks=[VerticalMarker(name, rate) for name, rate in marks.items()],
        is_over_time=False,
    )


def _below(series: LineSeries, ceiling: float) -> LineSeries:
    """The points of a line that are not above the ceiling."""
    points = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if y <= ceiling]
    return LineSeries(series.name, [x for x, _ in points], [y for _, y in points])


def draw_rates(chart: LineChart) -> Markup:
    return draw_line_chart(chart, ident="rates")


def render_rate_page(
    chart: LineChart,
    *,
    subtitle: str,
    sentences: Sequence[str],
    rows: Sequence[Row],
    command: str,
    created: str,
) -> str:
    """The whole page as text."""
    note = (
        "The learning rate grows from update to update. A rate that is too low changes nothing; one that is too high"
        " raises the loss. Losses far above the first one are not drawn."
    )
    sections = [
        Section("result", "Result", tag("div", *[tag("p", sentence) for sentence in sentences])),
        Section(
            "curve",
            "Loss by learning rate",
            tag("div", tag("p", note, class_="quiet"), tag("div", draw_rates(chart), class_="charts")),
        ),
        Section("numbers", "Numbers", number_table(rows)),
    ]
    if command:
        sections.append(Section("next", "Next", tag("div", tag("code", command), class_="block command")))
    return render_page(title=TITLE, subtitle=subtitle, created=created, notices=(), sections=sections)

"""A score of several models against the length of what they read: one line each, and the numbers with their intervals below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.interval_rows import Reach
from seqlab.pages.charts.line_chart import line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import fixed
from seqlab.pages.report_data import Curve, Series


@dataclass(frozen=True)
class LengthLine:
    """One model: a value with its interval for each part of the data; the names of the parts are those of the reaches."""

    name: str
    reaches: Sequence[Reach]


@dataclass(frozen=True)
class LengthChart:
    """The same parts for all models: where the middle of each lies, and how many items it has."""

    score: str
    unit: str
    middles: Sequence[float]
    counts: Sequence[int]
    lines: Sequence[LengthLine]


def by_length_section(chart: LengthChart) -> Markup:
    name = chart.score.replace("_", " ")
    series = [Series(line.name, chart.middles, [reach.value for reach in line.reaches]) for line in chart.lines]
    curve = Curve(f"{name} by length of the source", f"{chart.unit} in the source", name, series)
    how = "Every part is scored like the whole, with its 95 % interval; a point stands at the mean length of its part."
    picture = tag("div", line_chart(curve, ident="by-length"), class_="charts")
    return tag("div", tag("p", how, class_="quiet"), picture, _table(chart))


def _table(chart: LengthChart) -> Markup:
    heads = [f"{chart.unit} in the source", "rows", *(line.name for line in chart.lines)]
    head = tag("tr", *[tag("th", name, scope="col", class_="num" if place else None) for place, name in enumerate(heads)])
    body = []
    for place, count in enumerate(chart.counts):
        cells = [f"{count:,}", *(shown_reach(line.reaches[place]) for line in chart.lines)]
        body.append(tag("tr", tag("th", chart.lines[0].reaches[place].name), *[tag("td", cell, class_="num") for cell in cells]))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def shown_reach(reach: Reach) -> str:
    """
    >>> shown_reach(Reach("1–5", 31.416, 29.0, 33.5)), shown_reach(Reach("1–5", 0.5))
    ('31.42 [29.00, 33.50]', '0.5000')
    """
    decimals = 4 if abs(reach.value) < 10 else 2
    if reach.low is None or reach.high is None:
        return fixed(reach.value, decimals)
    return f"{fixed(reach.value, decimals)} [{fixed(reach.low, decimals)}, {fixed(reach.high, decimals)}]"

"""A score on slices of the data, as bars with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.html import Markup, tag
from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class SlicePart:
    """One part of the data: how much is in it, and the score there, with its interval where there is one."""

    name: str
    count: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SliceChart:
    """One way to cut the data: along what, into which parts, and the score on everything."""

    by: str
    score: str
    unit: str
    parts: Sequence[SlicePart]
    whole: float | None = None


@report_sections.register("slices")
@dataclass(frozen=True)
class SlicedScores(ReportSection):
    """A score on parts of the data, cut in one or several ways."""

    kind = "slices"
    title = "Scores on slices of the data"
    position = 56
    cuts: Sequence[SliceChart]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(
            [
                SliceChart(**{**chart, "parts": [SlicePart(**part) for part in chart["parts"]]})
                for chart in value["cuts"]
            ]
        )

    def lines(self) -> list[str]:
        """One line for each part of the data, so that a weak one can be seen."""
        return [line for chart in self.cuts for line in _lines(chart)]

    def html(self) -> Markup | None:
        return slices_section(self.cuts) if self.cuts else None


def _lines(chart: SliceChart) -> list[str]:
    width = max(len(part.name) for part in chart.parts)
    lines = [f"    {chart.score.replace('_', ' ')} by {chart.by}:"]
    for part in chart.parts:
        interval = "" if part.low is None else f" [{part.low:.4f}, {part.high:.4f}]"
        lines.append(
            f"        {part.name:<{width}}  {part.value:.4f}{interval}  ({part.count:,} {chart.unit})"
        )
    return lines


def slices_section(charts: Sequence[SliceChart]) -> Markup:
    explanation = (
        "The score on slices of the data, with 95% CIs; the dashed line is the overall score. Small"
        " slices have wide intervals; very small ones have none."
    )
    return tag(
        "div",
        tag("p", explanation, class_="quiet"),
        tag("div", *[_figure(chart) for chart in charts], class_="charts"),
    )


def _figure(chart: SliceChart) -> Markup:
    name = f"{chart.score.replace('_', ' ')} by {chart.by}"
    rows = [
        IntervalRow(part.name, part.value, part.low, part.high, note=f"({part.count:,})")
        for part in chart.parts
    ]
    svg = draw_interval_rows(
        rows, title=name, reference=chart.whole, reference_name="everything", with_bars=True
    )
    return tag(
        "figure",
        tag("h3", name),
        svg,
        tag("figcaption", f"number of {chart.unit} in parentheses", class_="quiet"),
        class_="chart-box",
    )

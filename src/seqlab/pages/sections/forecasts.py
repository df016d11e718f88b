"""Forecasts of a time series with their bands, next to what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.fan_chart import FanChart, draw_fan_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.sections.base import ReportSection, report_sections


@report_sections.register("forecasts")
@dataclass(frozen=True)
class ForecastExamples(ReportSection):
    """Some forecasts: the end of the history, the truth, the median and its bands."""

    kind = "forecasts"
    title = "Forecasts"
    position = 40
    charts: Sequence[FanChart]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([FanChart.from_json(chart) for chart in value["charts"]])

    def html(self) -> Markup | None:
        return forecast_charts(self.charts) if self.charts else None


def forecast_charts(charts: Sequence[FanChart]) -> Markup:
    """All charts, with a sentence on how to read them."""
    explanation = "The shaded bands should hold the true value in the stated share of cases."
    figures = [
        draw_fan_chart(chart, ident=f"forecast-{number}") for number, chart in enumerate(charts, start=1)
    ]
    return tag("div", tag("p", explanation, class_="quiet"), tag("div", *figures, class_="charts"))

"""A page of forecasts whose future is not known yet: a fan chart for each series and target."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.charts.fan_chart import FanChart
from seqlab.pages.numbers import count_of
from seqlab.pages.page import Section, render_page
from seqlab.pages.sections.forecasts import forecast_charts

MAX_CHARTS = 100


def forecast_page(charts: Sequence[FanChart], *, title: str, created: str = "") -> str:
    """Return a whole HTML document."""
    notices = []
    if len(charts) > MAX_CHARTS:
        notices.append(
            f"The first {MAX_CHARTS} of {len(charts):,} forecasts are drawn; --json and CSV have all."
        )
    return render_page(
        title=title,
        subtitle=f"{count_of(len(charts), 'forecast')} with bands of 80% and 95%",
        created=created,
        notices=notices,
        sections=[Section("forecasts", "Forecasts", forecast_charts(charts[:MAX_CHARTS]))],
    )

"""Histograms as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.charts.line_chart import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, Axis, draw_grid, left_margin
from seqlab.pages.charts.ticks import round_range, tick_labels
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number
from seqlab.pages.report_data import LineChart


def draw_histogram(
    edges: Sequence[float], counts: Sequence[int], *, title: str, x_label: str, y_label: str, ident: str
) -> Markup:
    """A bar for every interval between two edges."""
    low, high = round_range(0.0, float(max(counts, default=1)))
    y_axis = Axis(low, high, HEIGHT - BOTTOM, TOP, whole=True)
    x_axis = Axis(edges[0], edges[-1], left_margin(tick_labels(y_axis.ticks())), WIDTH - RIGHT)
    bars = []
    for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True):
        x, end, y = x_axis.to_pixel(left), x_axis.to_pixel(right), y_axis.to_pixel(count)
        hint = tag("title", f"{format_number(left)} to {format_number(right)}: {count:,}")
        size = {"width": max(end - x - 1, 0.5), "height": HEIGHT - BOTTOM - y}
        bars.append(tag("rect", hint, x=x, y=y, style="fill: var(--c0); fill-opacity: .7", **size))
    description = f"{sum(counts):,} values from {format_number(edges[0])} to {format_number(edges[-1])}."
    svg = tag(
        "svg",
        tag("title", title, id=f"{ident}-title"),
        tag("desc", description, id=f"{ident}-desc"),
        draw_grid(x_axis, y_axis, LineChart(title, x_label, y_label, [])),
        *bars,
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )
    return tag("figure", tag("h3", title), svg, class_="chart-box")

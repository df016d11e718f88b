"""Several numbers with their intervals as rows on one axis, for comparing models or slices of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.line_chart import Axis
from seqlab.pages.charts.ticks import is_drawable, tick_labels, ticks, widen_range
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import choose_decimals, format_fixed

WIDTH, ROW = 620.0, 30.0
TOP, BOTTOM, RIGHT = 8.0, 26.0, 84.0
CHARACTER_WIDTH, MAX_NAME_CHARACTERS = 6.8, 34


@dataclass(frozen=True)
class IntervalRow:
    """One row: a name, a value, and the ends of its interval where there is one.

    `note` follows the name.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


def draw_interval_rows(
    rows: Sequence[IntervalRow],
    *,
    title: str,
    reference: float | None = None,
    reference_name: str = "",
    with_bars: bool = False,
) -> Markup:
    """A dot on its interval for each row. `reference` is a value marked by a vertical line, such as 0 or the
    overall score.

    With bars each value is also the length of a bar, and the axis begins at zero, so that lengths can be
    compared.
    """
    values = [
        value
        for row in rows
        for value in (row.value, row.low, row.high)
        if value is not None and is_drawable(value)
    ]
    values += [reference] if reference is not None and is_drawable(reference) else []
    if not values:
        return Markup("")
    left = 14.0 + CHARACTER_WIDTH * min(MAX_NAME_CHARACTERS, max(_characters(row) for row in rows))
    axis = _axis([*values, 0.0] if with_bars else values, left, from_zero=with_bars and min(values) >= 0)
    height = TOP + ROW * len(rows) + BOTTOM
    tick_values = [index for index in ticks(axis.low, axis.high) if axis.low <= index <= axis.high]
    labels = zip(tick_values, tick_labels(tick_values), strict=True)
    decimals = max(choose_decimals(values), _decimals_needed(values))
    return tag(
        "svg",
        tag("title", title),
        *[
            tag(
                "line",
                x1=axis.to_pixel(tick),
                x2=axis.to_pixel(tick),
                y1=TOP,
                y2=height - BOTTOM,
                class_="grid",
            )
            for tick in tick_values
        ],
        *[
            tag("text", label, x=axis.to_pixel(tick), y=height - 8, text_anchor="middle")
            for tick, label in labels
        ],
        *([] if reference is None else _draw_reference(axis, reference, reference_name, height)),
        *[
            _draw_row(row, axis, TOP + ROW * (index + 0.5), decimals, with_bars=with_bars)
            for index, row in enumerate(rows)
        ],
        class_="interval-rows",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
    )


def _axis(values: Sequence[float], left: float, *, from_zero: bool) -> Axis:
    low, high = widen_range(float(min(values)), float(max(values)))
    padding = 0.06 * (high - low)
    return Axis(0.0 if from_zero else low - padding, high + padding, left, WIDTH - RIGHT)


def _decimals_needed(values: Sequence[float]) -> int:
    """The number of decimals that distinguishes the values."""
    spread = max(values) - min(values)
    return min(5, max(0, 1 - math.floor(math.log10(spread)))) if spread > 0 else 0


def _draw_reference(axis: Axis, value: float, name: str, height: float) -> list[Markup]:
    x = axis.to_pixel(value)
    line = tag("line", x1=x, x2=x, y1=TOP - 4, y2=height - BOTTOM, class_="reference")
    return [line, tag("title", name)] if name else [line]


def _characters(row: IntervalRow) -> float:
    """Width of a name and its note in average characters; a percent sign takes almost two."""
    return len(row.name) + len(row.note) + 2 + 0.9 * f"{row.name}{row.note}".count("%")


def _draw_row(row: IntervalRow, axis: Axis, y: float, decimals: int, *, with_bars: bool) -> Markup:
    name = row.name if len(row.name) <= MAX_NAME_CHARACTERS else row.name[: MAX_NAME_CHARACTERS - 1] + "…"
    note = tag("tspan", row.note, dx=7.0, class_="quiet-label") if row.note else Markup("")
    parts = [
        tag(
            "text",
            tag("tspan", name, class_="strong-label"),
            note,
            x=axis.start - 10,
            y=y + 4,
            text_anchor="end",
        )
    ]
    if not is_drawable(row.value):
        return tag("g", *parts)
    x = axis.to_pixel(row.value)
    if with_bars:
        parts.append(
            tag(
                "rect",
                x=axis.start,
                y=y - 8,
                width=max(1.0, x - axis.start),
                height=16.0,
                rx=2.0,
                class_="bar",
            )
        )
    if row.low is not None and row.high is not None and is_drawable(row.low) and is_drawable(row.high):
        start, end = axis.to_pixel(row.low), axis.to_pixel(row.high)
        parts.append(
            tag("rect", x=start, y=y - 3.5, width=max(end - start, 1.0), height=7.0, rx=3.5, class_="reach")
        )
    parts.append(tag("circle", cx=x, cy=y, r=5.0, class_="value"))
    parts.append(tag("text", format_fixed(row.value, decimals), x=WIDTH - 6, y=y + 4, text_anchor="end"))
    interval = (
        ""
        if row.low is None or row.high is None
        else f", 95% CI {format_fixed(row.low, decimals)} to {format_fixed(row.high, decimals)}"
    )
    return tag("g", tag("title", f"{row.name}: {format_fixed(row.value, decimals)}{interval}"), *parts)

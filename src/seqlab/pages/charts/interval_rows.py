"""Several numbers with their intervals below each other on one axis: models beside each other, parts of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.line_chart import Axis
from seqlab.pages.charts.ticks import drawable, tick_labels, ticks, widen
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import decimals_for, fixed

WIDTH, ROW = 620.0, 30.0
TOP, BOTTOM, RIGHT = 8.0, 26.0, 84.0
LETTER, LONGEST = 6.8, 34


@dataclass(frozen=True)
class Reach:
    """One row: a name, a value, and the ends of its interval where there is one. `note` stands behind the name."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


def interval_rows(rows: Sequence[Reach], *, title: str, line: float | None = None, line_name: str = "", with_bars: bool = False) -> Markup:
    """A dot on its interval for each row. `line` is a value worth an upright line, such as 0 or the score on everything.

    With bars each value is also the length of a bar, and the axis begins at zero, so that lengths can be compared.
    """
    shown = [value for row in rows for value in (row.value, row.low, row.high) if value is not None and drawable(value)]
    shown += [line] if line is not None and drawable(line) else []
    if not shown:
        return Markup("")
    left = 14.0 + LETTER * min(LONGEST, max(len(row.name) + len(row.note) + 2 for row in rows))
    axis = _axis([*shown, 0.0] if with_bars else shown, left, from_zero=with_bars and min(shown) >= 0)
    height = TOP + ROW * len(rows) + BOTTOM
    places = [place for place in ticks(axis.low, axis.high) if axis.low <= place <= axis.high]
    labels = zip(places, tick_labels(places), strict=True)
    decimals = max(decimals_for(shown), _needed(shown))
    return tag(
        "svg",
        tag("title", title),
        *[tag("line", x1=axis.place(tick), x2=axis.place(tick), y1=TOP, y2=height - BOTTOM, class_="grid") for tick in places],
        *[tag("text", label, x=axis.place(tick), y=height - 8, text_anchor="middle") for tick, label in labels],
        *([] if line is None else _line(axis, line, line_name, height)),
        *[_row(row, axis, TOP + ROW * (place + 0.5), decimals, with_bars=with_bars) for place, row in enumerate(rows)],
        class_="interval-rows",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
    )


def _axis(values: Sequence[float], left: float, *, from_zero: bool) -> Axis:
    low, high = widen(float(min(values)), float(max(values)))
    air = 0.06 * (high - low)
    return Axis(0.0 if from_zero else low - air, high + air, left, WIDTH - RIGHT)


def _needed(values: Sequence[float]) -> int:
    """Decimals that tell the values apart."""
    spread = max(values) - min(values)
    return min(5, max(0, 1 - math.floor(math.log10(spread)))) if spread > 0 else 0


def _line(axis: Axis, value: float, name: str, height: float) -> list[Markup]:
    x = axis.place(value)
    line = tag("line", x1=x, x2=x, y1=TOP - 4, y2=height - BOTTOM, class_="reference")
    return [line, tag("title", name)] if name else [line]


def _row(row: Reach, axis: Axis, y: float, decimals: int, *, with_bars: bool) -> Markup:
    name = row.name if len(row.name) <= LONGEST else row.name[: LONGEST - 1] + "…"
    note = tag("tspan", row.note, dx=7.0, class_="quiet-label") if row.note else Markup("")
    parts = [tag("text", tag("tspan", name, class_="strong-label"), note, x=axis.start - 10, y=y + 4, text_anchor="end")]
    if not drawable(row.value):
        return tag("g", *parts)
    x = axis.place(row.value)
    if with_bars:
        parts.append(tag("rect", x=axis.start, y=y - 8, width=max(1.0, x - axis.start), height=16.0, rx=2.0, class_="bar"))
    if row.low is not None and row.high is not None and drawable(row.low) and drawable(row.high):
        start, end = axis.place(row.low), axis.place(row.high)
        parts.append(tag("rect", x=start, y=y - 3.5, width=max(end - start, 1.0), height=7.0, rx=3.5, class_="reach"))
    parts.append(tag("circle", cx=x, cy=y, r=5.0, class_="value"))
    parts.append(tag("text", fixed(row.value, decimals), x=WIDTH - 6, y=y + 4, text_anchor="end"))
    reach = "" if row.low is None or row.high is None else f", 95 % interval {fixed(row.low, decimals)} to {fixed(row.high, decimals)}"
    return tag("g", tag("title", f"{row.name}: {fixed(row.value, decimals)}{reach}"), *parts)

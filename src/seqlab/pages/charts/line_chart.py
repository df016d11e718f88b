"""Line charts as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from seqlab.pages.charts.downsample import Point, downsample, split_at_gaps
from seqlab.pages.charts.ticks import is_drawable, log_ticks, round_range, tick_labels, ticks, widen_range
from seqlab.pages.html import Markup, join, tag
from seqlab.pages.numbers import format_number
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine, VerticalMarker

WIDTH, HEIGHT = 520.0, 290.0
RIGHT, TOP, BOTTOM = 14.0, 30.0, 44.0
NUM_COLORS = 7
DASHES = (None, "7 4", "2 3")
CHARACTER_WIDTH = 6.6  # approximate width of a character
NOISY_TRAVEL = 6  # a line that goes up and down this many times the height of the chart is drawn thinner
MAX_WHOLE = 1e6  # a longer axis has no room for fractions anyway
MAX_DOTS = 60  # up to this many points each one is a dot with its numbers


@dataclass(frozen=True)
class Axis:
    """Numbers to pixels along one side of a chart."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False
    """Whether the axis counts something, such as steps: no ticks between whole numbers."""

    def to_pixel(self, value: float) -> float:
        """
        >>> Axis(0.0, 10.0, 100.0, 200.0).to_pixel(3.0), Axis(1.0, 100.0, 0.0, 50.0, log=True).to_pixel(10.0)
        (130.0, 25.0)
        """
        low, high, position = (
            (math.log10(self.low), math.log10(self.high), math.log10(value))
            if self.log
            else (self.low, self.high, value)
        )
        return self.start + (position - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return log_ticks(self.low, self.high) if self.log else ticks(self.low, self.high, whole=self.whole)

    def can_show(self, value: float) -> bool:
        return is_drawable(value, log=self.log)


def draw_line_chart(chart: LineChart, *, ident: str) -> Markup:
    """One chart as a figure: title, legend, SVG, and a note on values that could not be drawn."""
    x_axis, y_axis = _axes(chart)
    references = [line for line in chart.references if y_axis.can_show(line.y)]
    drawn = [
        point for series in chart.series for point in _points(series, x_axis, y_axis) if point is not None
    ]
    svg = tag(
        "svg",
        tag("title", chart.title, id=f"{ident}-title"),
        tag("desc", describe_line_chart(chart), id=f"{ident}-desc"),
        draw_grid(x_axis, y_axis, chart),
        *[_mark(mark, x_axis) for mark in chart.marks if x_axis.can_show(mark.x)],
        *[_reference_line(line, x_axis, y_axis) for line in references],
        *[_line(series, index, x_axis, y_axis) for index, series in enumerate(chart.series)],
        *_label_references(references, x_axis, y_axis, drawn),
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )
    return tag(
        "figure",
        tag("h3", chart.title),
        _legend(chart),
        svg,
        _note(chart, x_axis, y_axis),
        class_="chart-box",
    )


def _axes(chart: LineChart) -> tuple[Axis, Axis]:
    pairs = [(x, y) for series in chart.series for x, y in zip(series.xs, series.ys, strict=True)]
    drawable = [
        (x, y) for x, y in pairs if is_drawable(x, log=chart.log_x) and is_drawable(y, log=chart.log_y)
    ]
    references = [line.y for line in chart.references if is_drawable(line.y, log=chart.log_y)]
    xs, ys = [x for x, _ in drawable] or [0.0, 1.0], [y for _, y in drawable] + references or [1.0, 10.0]
    low, high = _log_range(min(ys), max(ys)) if chart.log_y else round_range(float(min(ys)), float(max(ys)))
    y_axis = Axis(low, high, HEIGHT - BOTTOM, TOP, log=chart.log_y)
    return _x_axis(xs, log=chart.log_x, start=left_margin(tick_labels(y_axis.ticks()))), y_axis


def _x_axis(xs: Sequence[float], *, log: bool, start: float) -> Axis:
    lowest, highest = float(min(xs)), float(max(xs))
    if log:
        left, right = (lowest, highest) if lowest < highest else (lowest / 2, highest * 2)
        return Axis(left, right, start, WIDTH - RIGHT, log=True)
    is_whole = (
        highest - lowest < MAX_WHOLE and abs(lowest) < MAX_WHOLE and all(float(x).is_integer() for x in xs)
    )
    if is_whole and lowest == highest:  # a run of one step
        left, right = lowest - 1, highest + 1
    else:
        left, right = widen_range(lowest, highest)
    left = (
        0.0 if 0 < left < 0.1 * right else left
    )  # steps start at zero even if the first was not written down
    return Axis(left, right, start, WIDTH - RIGHT, whole=is_whole)


def left_margin(labels: Sequence[str]) -> float:
    """Space for the widest label, also with the larger font of a phone."""
    return 16.0 + 8.5 * max((len(label) for label in labels), default=1)


def _log_range(low: float, high: float) -> tuple[float, float]:
    """A small margin above and below; at least a factor of two, so that a constant has an axis."""
    return (low / 1.05, high * 1.05) if high > low * 1.2 else (low / 1.5, high * 1.5)


def draw_grid(x_axis: Axis, y_axis: Axis, chart: LineChart) -> Markup:
    """Lines, ticks and the names of both axes."""
    x_ticks = x_axis.ticks()
    return join(
        [
            draw_rows(x_axis, y_axis),
            draw_x_ticks(x_axis, list(zip(x_ticks, tick_labels(x_ticks), strict=True))),
            draw_axis_titles(
                chart.x_label + (", log scale" if x_axis.log else ""),
                chart.y_label + (", log scale" if y_axis.log else ""),
            ),
        ]
    )


def draw_rows(x_axis: Axis, y_axis: Axis) -> Markup:
    """A labeled horizontal line for every tick of the y axis."""
    parts = []
    y_ticks = y_axis.ticks()
    for value, label in zip(y_ticks, tick_labels(y_ticks), strict=True):
        y = y_axis.to_pixel(value)
        parts.append(tag("line", x1=x_axis.start, x2=x_axis.end, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", label, x=x_axis.start - 8, y=y + 4, text_anchor="end"))
    return join(parts)


def draw_x_ticks(x_axis: Axis, labeled: Sequence[tuple[float, str]]) -> Markup:
    """A short line and its label for every tick of the x axis."""
    parts = []
    for value, label in labeled:
        x = x_axis.to_pixel(value)
        parts.append(tag("line", x1=x, x2=x, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="tick"))
        parts.append(tag("text", label, x=x, y=HEIGHT - BOTTOM + 18, text_anchor=_anchor(x)))
    return join(parts)


def draw_axis_titles(x_label: str, y_label: str) -> Markup:
    return join(
        [
            tag("text", y_label, x=2.0, y=14.0, class_="axis-title"),
            tag("text", x_label, x=WIDTH - RIGHT, y=HEIGHT - 6, text_anchor="end", class_="axis-title"),
        ]
    )


def _anchor(x: float) -> str:
    """A label at the right edge is right-aligned instead of being cut off."""
    return "end" if x > WIDTH - RIGHT - 12 else "middle"


def _points(series: LineSeries, x_axis: Axis, y_axis: Axis) -> list[Point | None]:
    """Pixels in the order of x; None where there is nothing to draw."""
    ordered = sorted(
        (pair for pair in zip(series.xs, series.ys, strict=True) if x_axis.can_show(pair[0])),
        key=lambda pair: pair[0],
    )
    return [(x_axis.to_pixel(x), y_axis.to_pixel(y)) if y_axis.can_show(y) else None for x, y in ordered]


def _line(series: LineSeries, index: int, x_axis: Axis, y_axis: Axis) -> Markup:
    runs = split_at_gaps(_points(series, x_axis, y_axis))
    path = " ".join(_path(downsample(run)) for run in runs)
    travel = sum(abs(after[1] - before[1]) for run in runs for before, after in pairwise(run))
    line = tag(
        "path",
        d=Markup(path),
        class_="line noisy" if travel > NOISY_TRAVEL * HEIGHT else "line",
        stroke_dasharray=DASHES[index // NUM_COLORS % len(DASHES)],
    )
    return tag(
        "g", line, *_dots(series, x_axis, y_axis, runs), style=f"--series: var(--c{index % NUM_COLORS})"
    )


def _path(points: Sequence[Point]) -> str:
    start, *rest = points
    return f"M{start[0]:.2f} {start[1]:.2f}" + "".join(f"L{x:.2f} {y:.2f}" for x, y in rest)


def _dots(series: LineSeries, x_axis: Axis, y_axis: Axis, runs: Sequence[Sequence[Point]]) -> list[Markup]:
    """Every point of a short series, with its numbers to hover over; of a long one only isolated points
    between gaps.
    """
    if len(series.xs) > MAX_DOTS:
        return [tag("circle", cx=run[0][0], cy=run[0][1], r=2.0) for run in runs if len(run) == 1]
    pairs = [
        (x, y) for x, y in zip(series.xs, series.ys, strict=True) if x_axis.can_show(x) and y_axis.can_show(y)
    ]
    return [
        tag(
            "circle",
            tag("title", f"{series.name}: {format_number(y)} at {format_number(x)}"),
            cx=x_axis.to_pixel(x),
            cy=y_axis.to_pixel(y),
            r=2.6,
        )
        for x, y in pairs
    ]


def _mark(mark: VerticalMarker, axis: Axis) -> Markup:
    x = min(max(axis.to_pixel(mark.x), axis.start), axis.end)
    is_left = x < (axis.start + axis.end) / 2
    label = tag(
        "text",
        mark.name,
        x=x + (5 if is_left else -5),
        y=TOP + 10,
        text_anchor="start" if is_left else "end",
        class_="halo",
    )
    return tag("g", tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"), label)


def _reference_line(line: ReferenceLine, x_axis: Axis, y_axis: Axis) -> Markup:
    y = y_axis.to_pixel(line.y)
    return tag("line", x1=x_axis.start, x2=x_axis.end, y1=y, y2=y, class_="reference")


def _label_references(
    references: Sequence[ReferenceLine], x_axis: Axis, y_axis: Axis, drawn: Sequence[Point]
) -> list[Markup]:
    """The labels of the horizontal lines, each at the end and on the side of its line where it hides the
    fewest points.
    """
    labels: list[Markup] = []
    taken = list(drawn)
    for line in references:
        label, y = f"{line.name} {format_number(line.y)}", y_axis.to_pixel(line.y)
        width = min(CHARACTER_WIDTH * len(label), x_axis.end - x_axis.start)
        ends = ((x_axis.end - width, "end", x_axis.end), (x_axis.start + 4, "start", x_axis.start + 4))
        candidates = [
            (left, base, anchor, x)
            for base in (y - 5, y + 14)
            for left, anchor, x in ends
            if TOP + 12 <= base <= HEIGHT - BOTTOM - 2
        ]
        left, base, anchor, x = min(
            candidates,
            key=lambda candidate: _count_hidden(taken, left=candidate[0], width=width, base=candidate[1]),
        )
        taken += [(left + share * width, base - 5) for share in (0.0, 0.25, 0.5, 0.75, 1.0)] * (
            1 + len(drawn)
        )  # labels never overlap
        labels.append(tag("text", label, x=x, y=base, text_anchor=anchor, class_="halo"))
    return labels


def _count_hidden(points: Sequence[Point], *, left: float, width: float, base: float) -> int:
    """The number of points that a label would cover."""
    return sum(left <= x <= left + width and base - 13 <= y <= base + 4 for x, y in points)


def _legend(chart: LineChart) -> Markup:
    return (
        tag(
            "ul",
            *[
                _legend_entry(series, index, with_last=chart.is_over_time)
                for index, series in enumerate(chart.series)
            ],
            class_="legend",
        )
        if chart.series
        else Markup("")
    )


def _legend_entry(series: LineSeries, index: int, *, with_last: bool) -> Markup:
    dash = DASHES[index // NUM_COLORS % len(DASHES)]
    swatch = tag(
        "svg",
        tag("path", d="M0 5L22 5", class_="line", stroke_dasharray=dash),
        viewBox="0 0 22 10",
        width=22,
        height=10,
        aria_hidden="true",
    )
    drawable = [y for y in series.ys if is_drawable(y)]
    last = "no values" if not drawable else f"last {format_number(drawable[-1])}" if with_last else ""
    note = (" ", tag("span", last, class_="quiet")) if last else ()
    return tag("li", swatch, " ", series.name, *note, style=f"--series: var(--c{index % NUM_COLORS})")


def _note(chart: LineChart, x_axis: Axis, y_axis: Axis) -> Markup:
    missing = sum(
        1
        for series in chart.series
        for x, y in zip(series.xs, series.ys, strict=True)
        if not (x_axis.can_show(x) and y_axis.can_show(y))
    )
    if not missing:
        return Markup("")
    kind = "not finite or not positive" if x_axis.log or y_axis.log else "not finite"
    return tag(
        "figcaption",
        f"{missing:,} {'point is' if missing == 1 else 'points are'} {kind} and shown as a gap.",
        class_="quiet",
    )


def describe_line_chart(chart: LineChart) -> str:
    """A text description of the chart, for screen readers.

    >>> describe_line_chart(LineChart("Loss", "step", "nats", [LineSeries("valid", [0, 100, 200], [3.0, 1.25, 1.5])]))
    'valid goes from 3.000 at step 0 to 1.500 at step 200; lowest 1.250 at step 100, highest 3.000 at step 0.'
    """
    return " ".join(_describe_series(series, chart.x_label) for series in chart.series) or "No data to plot."


def _describe_series(series: LineSeries, x_label: str) -> str:
    drawable = [
        (x, y) for x, y in zip(series.xs, series.ys, strict=True) if is_drawable(x) and is_drawable(y)
    ]
    if not drawable:
        return f"{series.name} has no finite values."

    def format_point(point: tuple[float, float]) -> str:
        return f"{format_number(point[1])} at {x_label} {format_number(point[0])}"

    lowest, highest = min(drawable, key=lambda point: point[1]), max(drawable, key=lambda point: point[1])
    return (
        f"{series.name} goes from {format_point(drawable[0])} to {format_point(drawable[-1])}; lowest"
        f" {format_point(lowest)}, highest {format_point(highest)}."
    )

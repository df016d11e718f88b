"""Line charts as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from seqlab.pages.charts.downsample import Point, runs_between_gaps, thin
from seqlab.pages.charts.ticks import drawable, log_ticks, round_range, tick_labels, ticks, widen
from seqlab.pages.html import Markup, join, tag
from seqlab.pages.numbers import number
from seqlab.pages.report_data import Curve, Mark, Reference, Series

WIDTH, HEIGHT = 520.0, 290.0
RIGHT, TOP, BOTTOM = 14.0, 30.0, 44.0
COLOURS = 7
DASHES = (None, "7 4", "2 3")
LETTER = 6.6  # about the width of a letter
NOISY = 6  # a line that goes up and down this many times the height of the chart is drawn thinner
FEW = 60  # up to this many points each one is a dot with its numbers


@dataclass(frozen=True)
class Axis:
    """Numbers to pixels along one side of a chart."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """
        >>> Axis(0.0, 10.0, 100.0, 200.0).place(3.0), Axis(1.0, 100.0, 0.0, 50.0, log=True).place(10.0)
        (130.0, 25.0)
        """
        low, high, here = (math.log10(self.low), math.log10(self.high), math.log10(value)) if self.log else (self.low, self.high, value)
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return log_ticks(self.low, self.high) if self.log else ticks(self.low, self.high)

    def shows(self, value: float) -> bool:
        return drawable(value, log=self.log)


def line_chart(curve: Curve, *, ident: str) -> Markup:
    """One curve as a figure: title, legend, picture, and a note on what could not be drawn."""
    x_axis, y_axis = _axes(curve)
    references = [line for line in curve.references if y_axis.shows(line.y)]
    drawn = [point for series in curve.series for point in _points(series, x_axis, y_axis) if point is not None]
    picture = tag(
        "svg",
        tag("title", curve.title, id=f"{ident}-title"),
        tag("desc", describe(curve), id=f"{ident}-desc"),
        draw_grid(x_axis, y_axis, curve),
        *[_mark(mark, x_axis) for mark in curve.marks if x_axis.shows(mark.x)],
        *[_reference_line(line, x_axis, y_axis) for line in references],
        *[_line(series, index, x_axis, y_axis) for index, series in enumerate(curve.series)],
        *_label_references(references, x_axis, y_axis, drawn),
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )
    return tag("figure", tag("h3", curve.title), _legend(curve.series), picture, _note(curve, y_axis), class_="chart-box")


def _axes(curve: Curve) -> tuple[Axis, Axis]:
    pairs = [(x, y) for series in curve.series for x, y in zip(series.xs, series.ys, strict=True)]
    seen = [(x, y) for x, y in pairs if drawable(x) and drawable(y, log=curve.log_y)]
    references = [line.y for line in curve.references if drawable(line.y, log=curve.log_y)]
    xs, ys = [x for x, _ in seen] or [0.0, 1.0], [y for _, y in seen] + references or [1.0, 10.0]
    left, right = widen(float(min(xs)), float(max(xs)))
    left = 0.0 if 0 < left < 0.1 * right else left  # steps start at zero even if the first was not written down
    low, high = _log_range(min(ys), max(ys)) if curve.log_y else round_range(float(min(ys)), float(max(ys)))
    y_axis = Axis(low, high, HEIGHT - BOTTOM, TOP, log=curve.log_y)
    return Axis(left, right, left_margin(tick_labels(y_axis.ticks())), WIDTH - RIGHT), y_axis


def left_margin(labels: Sequence[str]) -> float:
    """Room for the widest label, also in the larger letters of a phone."""
    return 16.0 + 8.5 * max((len(label) for label in labels), default=1)


def _log_range(low: float, high: float) -> tuple[float, float]:
    """A little air above and below; at least a factor of two, so that a constant has an axis."""
    return (low / 1.05, high * 1.05) if high > low * 1.2 else (low / 1.5, high * 1.5)


def draw_grid(x_axis: Axis, y_axis: Axis, curve: Curve) -> Markup:
    """Lines, ticks and the names of both axes."""
    x_ticks, y_ticks = x_axis.ticks(), y_axis.ticks()
    parts = []
    for value, label in zip(y_ticks, tick_labels(y_ticks), strict=True):
        y = y_axis.place(value)
        parts.append(tag("line", x1=x_axis.start, x2=x_axis.end, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", label, x=x_axis.start - 8, y=y + 4, text_anchor="end"))
    for value, label in zip(x_ticks, tick_labels(x_ticks), strict=True):
        x = x_axis.place(value)
        parts.append(tag("line", x1=x, x2=x, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="tick"))
        parts.append(tag("text", label, x=x, y=HEIGHT - BOTTOM + 18, text_anchor=_anchor(x)))
    parts.append(tag("text", curve.y_label + (", log scale" if y_axis.log else ""), x=2.0, y=14.0, class_="axis-title"))
    parts.append(tag("text", curve.x_label, x=WIDTH - RIGHT, y=HEIGHT - 6, text_anchor="end", class_="axis-title"))
    return join(parts)


def _anchor(x: float) -> str:
    """A label at the right edge ends there instead of being cut off."""
    return "end" if x > WIDTH - RIGHT - 12 else "middle"


def _points(series: Series, x_axis: Axis, y_axis: Axis) -> list[Point | None]:
    """Pixels in the order of x; None where there is nothing to draw."""
    ordered = sorted((pair for pair in zip(series.xs, series.ys, strict=True) if drawable(pair[0])), key=lambda pair: pair[0])
    return [(x_axis.place(x), y_axis.place(y)) if y_axis.shows(y) else None for x, y in ordered]


def _line(series: Series, index: int, x_axis: Axis, y_axis: Axis) -> Markup:
    runs = runs_between_gaps(_points(series, x_axis, y_axis))
    path = " ".join(_path(thin(run)) for run in runs)
    travel = sum(abs(after[1] - before[1]) for run in runs for before, after in pairwise(run))
    line = tag(
        "path", d=Markup(path), class_="line noisy" if travel > NOISY * HEIGHT else "line", stroke_dasharray=DASHES[index // COLOURS % len(DASHES)]
    )
    return tag("g", line, *_dots(series, x_axis, y_axis, runs), style=f"--series: var(--c{index % COLOURS})")


def _path(points: Sequence[Point]) -> str:
    start, *rest = points
    return f"M{start[0]:.2f} {start[1]:.2f}" + "".join(f"L{x:.2f} {y:.2f}" for x, y in rest)


def _dots(series: Series, x_axis: Axis, y_axis: Axis, runs: Sequence[Sequence[Point]]) -> list[Markup]:
    """Every point of a short series, with its numbers to hover over; of a long one only those that stand alone between gaps."""
    if len(series.xs) > FEW:
        return [tag("circle", cx=run[0][0], cy=run[0][1], r=2.0) for run in runs if len(run) == 1]
    pairs = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if drawable(x) and y_axis.shows(y)]
    return [
        tag("circle", tag("title", f"{series.name}: {number(y)} at {number(x)}"), cx=x_axis.place(x), cy=y_axis.place(y), r=2.6) for x, y in pairs
    ]


def _mark(mark: Mark, axis: Axis) -> Markup:
    x = min(max(axis.place(mark.x), axis.start), axis.end)
    is_left = x < (axis.start + axis.end) / 2
    label = tag("text", mark.name, x=x + (5 if is_left else -5), y=TOP + 10, text_anchor="start" if is_left else "end", class_="halo")
    return tag("g", tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"), label)


def _reference_line(line: Reference, x_axis: Axis, y_axis: Axis) -> Markup:
    y = y_axis.place(line.y)
    return tag("line", x1=x_axis.start, x2=x_axis.end, y1=y, y2=y, class_="reference")


def _label_references(references: Sequence[Reference], x_axis: Axis, y_axis: Axis, drawn: Sequence[Point]) -> list[Markup]:
    """The names of the horizontal lines, each at the end and on the side of its line where it hides the fewest points."""
    labels: list[Markup] = []
    taken = list(drawn)
    for line in references:
        words, y = f"{line.name} {number(line.y)}", y_axis.place(line.y)
        width = min(LETTER * len(words), x_axis.end - x_axis.start)
        ends = ((x_axis.end - width, "end", x_axis.end), (x_axis.start + 4, "start", x_axis.start + 4))
        places = [(left, base, anchor, x) for base in (y - 5, y + 14) for left, anchor, x in ends if TOP + 12 <= base <= HEIGHT - BOTTOM - 2]
        left, base, anchor, x = min(places, key=lambda place: _hidden(taken, left=place[0], width=width, base=place[1]))
        taken += [(left + share * width, base - 5) for share in (0.0, 0.25, 0.5, 0.75, 1.0)] * (1 + len(drawn))  # labels never share a place
        labels.append(tag("text", words, x=x, y=base, text_anchor=anchor, class_="halo"))
    return labels


def _hidden(points: Sequence[Point], *, left: float, width: float, base: float) -> int:
    """How many points a label would lie on."""
    return sum(left <= x <= left + width and base - 13 <= y <= base + 4 for x, y in points)


def _legend(series: Sequence[Series]) -> Markup:
    return tag("ul", *[_legend_entry(one, index) for index, one in enumerate(series)], class_="legend") if series else Markup("")


def _legend_entry(series: Series, index: int) -> Markup:
    dash = DASHES[index // COLOURS % len(DASHES)]
    swatch = tag(
        "svg", tag("path", d="M0 5L22 5", class_="line", stroke_dasharray=dash), viewBox="0 0 22 10", width=22, height=10, aria_hidden="true"
    )
    seen = [y for y in series.ys if drawable(y)]
    last = tag("span", f"last {number(seen[-1])}", class_="quiet") if seen else tag("span", "no values", class_="quiet")
    return tag("li", swatch, " ", series.name, " ", last, style=f"--series: var(--c{index % COLOURS})")


def _note(curve: Curve, axis: Axis) -> Markup:
    missing = sum(1 for series in curve.series for x, y in zip(series.xs, series.ys, strict=True) if not (drawable(x) and axis.shows(y)))
    if not missing:
        return Markup("")
    kind = "not finite or not positive" if axis.log else "not finite"
    return tag("figcaption", f"{missing:,} {'point is' if missing == 1 else 'points are'} {kind}: a gap in the line.", class_="quiet")


def describe(curve: Curve) -> str:
    """The chart in words, for those who do not see it.

    >>> describe(Curve("Loss", "step", "nats", [Series("valid", [0, 100, 200], [3.0, 1.25, 1.5])]))
    'valid goes from 3.000 at step 0 to 1.500 at step 200; lowest 1.250 at step 100, highest 3.000 at step 0.'
    """
    return " ".join(_describe(series, curve.x_label) for series in curve.series) or "Nothing to draw."


def _describe(series: Series, x_label: str) -> str:
    seen = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if drawable(x) and drawable(y)]
    if not seen:
        return f"{series.name} has no finite values."

    def at(point: tuple[float, float]) -> str:
        return f"{number(point[1])} at {x_label} {number(point[0])}"

    lowest, highest = min(seen, key=lambda point: point[1]), max(seen, key=lambda point: point[1])
    return f"{series.name} goes from {at(seen[0])} to {at(seen[-1])}; lowest {at(lowest)}, highest {at(highest)}."

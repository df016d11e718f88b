"""Ways through a plane as SVG: where something was, is, and is expected to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seqlab.pages.charts.line_chart import COLOURS
from seqlab.pages.html import Markup, join, tag

SIDE, MARGIN = 420.0, 24.0


@dataclass(frozen=True)
class Trail:
    """Points that belong together, in the order in which they were passed."""

    name: str
    points: Sequence[tuple[float, float]]
    joined: bool = False
    shape: Literal["dot", "ring", "cross"] = "dot"


@dataclass(frozen=True)
class PathPicture:
    """Several trails in one plane; both axes have the same scale."""

    title: str
    trails: Sequence[Trail]


def draw_paths(picture: PathPicture, *, ident: str) -> Markup:
    """A figure with a legend. Trails are told apart by colour and by shape."""
    places = _Places([point for trail in picture.trails for point in trail.points])
    drawing = tag(
        "svg",
        tag("title", picture.title, id=f"{ident}-title"),
        *[_trail(trail, index, places) for index, trail in enumerate(picture.trails)],
        class_="chart",
        viewBox=f"0 0 {SIDE:g} {places.height:g}",
        role="img",
        aria_labelledby=f"{ident}-title",
    )
    legend = tag("ul", *[_entry(trail, index) for index, trail in enumerate(picture.trails)], class_="legend")
    return tag("figure", tag("h3", picture.title), legend, drawing, class_="chart-box")


class _Places:
    """Points of the plane to pixels; up is up."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
        self._left, self._top = min(xs), max(ys)
        span = max(max(xs) - min(xs), 1e-9)
        self._scale = min((SIDE - 2 * MARGIN) / span, (SIDE - 2 * MARGIN) / max(max(ys) - min(ys), 1e-9))
        self.height = 2 * MARGIN + self._scale * (max(ys) - min(ys))

    def of(self, point: tuple[float, float]) -> tuple[float, float]:
        return MARGIN + self._scale * (point[0] - self._left), MARGIN + self._scale * (self._top - point[1])


def _trail(trail: Trail, index: int, places: _Places) -> Markup:
    pixels = [places.of(point) for point in trail.points]
    parts = [_shape(trail.shape, x, y) for x, y in pixels]
    if trail.joined:
        path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in pixels)
        parts.insert(0, tag("path", d=Markup(path), class_="line"))
    return tag("g", tag("title", trail.name), *parts, style=f"--series: var(--c{index % COLOURS})")


def _shape(shape: str, x: float, y: float) -> Markup:
    if shape == "ring":
        return tag("circle", cx=x, cy=y, r=9.0, style="fill: none; stroke: var(--series); stroke-width: 2")
    if shape == "cross":
        return join(
            [tag("path", d=f"M{x - 5:.2f} {y - 5:.2f}L{x + 5:.2f} {y + 5:.2f}M{x - 5:.2f} {y + 5:.2f}L{x + 5:.2f} {y - 5:.2f}", class_="line")]
        )
    return tag("circle", cx=x, cy=y, r=4.0)


def _entry(trail: Trail, index: int) -> Markup:
    swatch = tag("svg", _shape(trail.shape, 10.0, 10.0), viewBox="0 0 20 20", width=16, height=16, aria_hidden="true")
    return tag("li", swatch, " ", trail.name, style=f"--series: var(--c{index % COLOURS})")

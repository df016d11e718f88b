"""Trajectories in a plane as SVG: past, current and predicted positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seqlab.pages.charts.line_chart import NUM_COLORS
from seqlab.pages.html import Markup, join, tag

SIDE, MARGIN = 420.0, 24.0


@dataclass(frozen=True)
class Trajectory:
    """The points of one trajectory, in order."""

    name: str
    points: Sequence[tuple[float, float]]
    connected: bool = False
    shape: Literal["dot", "ring", "cross"] = "dot"


@dataclass(frozen=True)
class TrajectoryPlot:
    """Several trajectories in one plane; both axes have the same scale."""

    title: str
    trajectories: Sequence[Trajectory]


def draw_trajectories(plot: TrajectoryPlot, *, ident: str) -> Markup:
    """A figure with a legend. Trajectories differ in color and in marker shape."""
    pixel_map = _PixelMap([point for trajectory in plot.trajectories for point in trajectory.points])
    svg = tag(
        "svg",
        tag("title", plot.title, id=f"{ident}-title"),
        *[
            _draw_trajectory(trajectory, index, pixel_map)
            for index, trajectory in enumerate(plot.trajectories)
        ],
        class_="chart",
        viewBox=f"0 0 {SIDE:g} {pixel_map.height:g}",
        role="img",
        aria_labelledby=f"{ident}-title",
    )
    legend = tag(
        "ul",
        *[_legend_entry(trajectory, index) for index, trajectory in enumerate(plot.trajectories)],
        class_="legend",
    )
    return tag("figure", tag("h3", plot.title), legend, svg, class_="chart-box")


class _PixelMap:
    """Maps points of the plane to pixels, with the y axis pointing up."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
        self._left, self._top = min(xs), max(ys)
        span = max(max(xs) - min(xs), 1e-9)
        self._scale = min((SIDE - 2 * MARGIN) / span, (SIDE - 2 * MARGIN) / max(max(ys) - min(ys), 1e-9))
        self.height = 2 * MARGIN + self._scale * (max(ys) - min(ys))

    def to_pixel(self, point: tuple[float, float]) -> tuple[float, float]:
        return MARGIN + self._scale * (point[0] - self._left), MARGIN + self._scale * (self._top - point[1])


def _draw_trajectory(trajectory: Trajectory, index: int, pixel_map: _PixelMap) -> Markup:
    pixels = [pixel_map.to_pixel(point) for point in trajectory.points]
    parts = [_draw_marker(trajectory.shape, x, y) for x, y in pixels]
    if trajectory.connected:
        path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in pixels)
        parts.insert(0, tag("path", d=Markup(path), class_="line"))
    return tag("g", tag("title", trajectory.name), *parts, style=f"--series: var(--c{index % NUM_COLORS})")


def _draw_marker(shape: str, x: float, y: float) -> Markup:
    if shape == "ring":
        return tag("circle", cx=x, cy=y, r=9.0, style="fill: none; stroke: var(--series); stroke-width: 2")
    if shape == "cross":
        return join(
            [
                tag(
                    "path",
                    d=(
                        f"M{x - 5:.2f} {y - 5:.2f}L{x + 5:.2f} {y + 5:.2f}M{x - 5:.2f}"
                        f" {y + 5:.2f}L{x + 5:.2f} {y - 5:.2f}"
                    ),
                    class_="line",
                )
            ]
        )
    return tag("circle", cx=x, cy=y, r=4.0)


def _legend_entry(trajectory: Trajectory, index: int) -> Markup:
    swatch = tag(
        "svg",
        _draw_marker(trajectory.shape, 10.0, 10.0),
        viewBox="0 0 20 20",
        width=16,
        height=16,
        aria_hidden="true",
    )
    return tag("li", swatch, " ", trajectory.name, style=f"--series: var(--c{index % NUM_COLORS})")

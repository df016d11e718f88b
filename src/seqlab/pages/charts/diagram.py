"""Draw diagrams of boxes, circles and arrows as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seqlab.pages.html import Markup, join, tag
from seqlab.pages.style import DARK, LIGHT

BoxKind = Literal["gate", "bend", "state", "input", "output", "kept", "plain"]
"""The role of a box, which determines its color."""
LineStyle = Literal["forward", "carried", "backward", "peep", "axis", "value", "slope", "left_out"]
"""What runs along a line."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A labeled box, positioned by its center."""

    x: float
    y: float
    label: str
    kind: BoxKind = "plain"
    width: float = 64.0
    height: float = 32.0
    caption: str = ""
    """A few quiet words under the box."""


@dataclass(frozen=True)
class Operator:
    """A circle with an operator symbol."""

    x: float
    y: float
    symbol: str
    radius: float = 11.0


@dataclass(frozen=True)
class Line:
    """A line through points, with rounded corners."""

    points: Sequence[Point]
    style: LineStyle = "forward"
    arrow: bool = True


@dataclass(frozen=True)
class Label:
    """Free text."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"
    muted: bool = False
    bold: bool = False


DiagramPart = Box | Operator | Line | Label


@dataclass(frozen=True)
class Diagram:
    """A diagram as plain data. `description` describes it as text."""

    title: str
    description: str
    width: float
    height: float
    parts: Sequence[DiagramPart]


CORNER = 7.0
ARROW = 6.5
BOX_COLORS: dict[str, str] = {
    "gate": "c1",
    "bend": "c4",
    "state": "c0",
    "input": "c2",
    "output": "c2",
    "kept": "c3",
    "plain": "c6",
}
LINE_STYLES: dict[str, tuple[str, float, str]] = {
    "forward": ("quiet", 1.4, ""),
    "carried": ("c0", 2.6, ""),
    "backward": ("c1", 1.8, "6 4"),
    "peep": ("c3", 1.3, "3 3"),
    "axis": ("rule", 1.0, ""),
    "value": ("c0", 2.2, ""),
    "slope": ("c1", 1.8, "6 4"),
    "left_out": ("quiet", 0.9, "2 4"),
}
"""Color, thickness and dashes."""
SHEET = """
svg { background: var(--ground); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
text { fill: var(--ink) } .quiet { fill: var(--quiet); font-size: 11.5px } .strong { font-weight: 650 }
"""


def draw_diagram(diagram: Diagram, *, ident: str) -> Markup:
    """The SVG for a page; lines are drawn below boxes."""
    ordered = sorted(diagram.parts, key=lambda part: not isinstance(part, Line))
    return tag(
        "svg",
        tag("title", diagram.title, id=f"{ident}-title"),
        tag("desc", diagram.description, id=f"{ident}-desc"),
        *[_draw_part(part) for part in ordered],
        class_="diagram",
        viewBox=f"0 0 {diagram.width:g} {diagram.height:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def render_svg(diagram: Diagram) -> str:
    """The SVG as a standalone file with both palettes."""
    svg = draw_diagram(diagram, ident="picture")
    return to_svg_file(
        Markup(f'<svg width="{diagram.width:g}" height="{diagram.height:g}"{svg.removeprefix("<svg")}')
    )


def to_svg_file(svg: Markup) -> str:
    """A figure of a page as a standalone file, light or dark according to the reader's system."""
    light, dark = (
        " ".join(f"--{name}: {color};" for name, color in palette.items()) for palette in (LIGHT, DARK)
    )
    sheet = Markup(f"svg {{ {light} }} @media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}{SHEET}")
    start, end = svg.split(">", 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg"{start.removeprefix("<svg")}>{tag("style", sheet)}{end}\n'


def _draw_part(part: DiagramPart) -> Markup:
    if isinstance(part, Box):
        return _box(part)
    if isinstance(part, Operator):
        circle = tag(
            "circle",
            cx=part.x,
            cy=part.y,
            r=part.radius,
            style="fill: var(--ground); stroke: var(--ink); stroke-width: 1.4",
        )
        return join([circle, tag("text", part.symbol, x=part.x, y=part.y + 4.5, text_anchor="middle")])
    if isinstance(part, Line):
        return _line(part)
    style = (
        " ".join(name for name, is_set in (("quiet", part.muted), ("strong", part.bold)) if is_set) or None
    )
    return tag("text", part.text, x=part.x, y=part.y, text_anchor=part.anchor, class_=style)


def _box(box: Box) -> Markup:
    color = f"var(--{BOX_COLORS[box.kind]})"
    fill = f"color-mix(in srgb, {color} 14%, var(--ground))"
    left, top = box.x - box.width / 2, box.y - box.height / 2
    shape = tag(
        "rect",
        x=left,
        y=top,
        width=box.width,
        height=box.height,
        rx=6.0,
        style=f"fill: {fill}; stroke: {color}; stroke-width: 1.4",
    )
    parts = [shape, tag("text", box.label, x=box.x, y=box.y + 4.5, text_anchor="middle")]
    if box.caption:
        parts.append(
            tag("text", box.caption, x=box.x, y=top + box.height + 14, text_anchor="middle", class_="quiet")
        )
    return join(parts)


def _line(line: Line) -> Markup:
    color, width, dashes = LINE_STYLES[line.style]
    style = (
        f"fill: none; stroke: var(--{color}); stroke-width: {width:g}; stroke-linecap: round;"
        " stroke-linejoin: round"
    )
    parts = [tag("path", d=Markup(_rounded(line.points)), style=style, stroke_dasharray=dashes or None)]
    if line.arrow:
        parts.append(_head(line.points[-2], line.points[-1], color))
    return join(parts)


def _rounded(points: Sequence[Point]) -> str:
    """The path with its inner corners cut by curves; many close points (a curve) stay as they are."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        reach = min(CORNER, _distance(before, here) / 2, _distance(here, after) / 2)
        first, second = _towards(here, before, reach), _towards(here, after, reach)
        path += f"L{first[0]:.1f} {first[1]:.1f}Q{here[0]:.1f} {here[1]:.1f} {second[0]:.1f} {second[1]:.1f}"
    return path + f"L{points[-1][0]:.1f} {points[-1][1]:.1f}"


def _head(before: Point, end: Point, color: str) -> Markup:
    """A small triangle whose tip is the end of the line."""
    back = _towards(end, before, ARROW)
    across = ((end[1] - back[1]) / ARROW * 3.6, (back[0] - end[0]) / ARROW * 3.6)
    corners = [end, (back[0] + across[0], back[1] + across[1]), (back[0] - across[0], back[1] - across[1])]
    return tag(
        "path",
        d=Markup("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z"),
        style=f"fill: var(--{color})",
    )


def _distance(start: Point, end: Point) -> float:
    return float(((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2) ** 0.5)


def _towards(start: Point, end: Point, reach: float) -> Point:
    """The point `reach` away from `start` on the way to `end`."""
    share = reach / max(_distance(start, end), 1e-9)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share

"""The same small picture several times as SVG, each time lit where something looks: per word of a caption, or per attention head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from seqlab.pages.html import Markup, tag

Pixel = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1."""
SIDE, GAP, LINE = 104.0, 14.0, 18.0
SHADE = 0.8
"""How dark a square becomes that gets no weight at all."""


@dataclass(frozen=True)
class Look:
    """One look at the picture: what it was for, and a weight for each square of a grid; none for the picture as it is."""

    words: str
    weights: Sequence[Sequence[float]] = field(default_factory=list)


@dataclass(frozen=True)
class Spotlights:
    """A picture as rows of pixels, and looks at it, so many side by side."""

    title: str
    pixels: Sequence[Sequence[Pixel]]
    looks: Sequence[Look]
    columns: int = 5

    @property
    def width(self) -> float:
        return min(self.columns, len(self.looks)) * (SIDE + GAP) + GAP

    @property
    def height(self) -> float:
        rows = -(-len(self.looks) // self.columns)
        return LINE + rows * (self._picture_height + LINE + GAP) + GAP

    @property
    def _picture_height(self) -> float:
        return SIDE * len(self.pixels) / len(self.pixels[0])

    def corner(self, number: int) -> tuple[float, float]:
        """Left and top of a look."""
        row, column = divmod(number, self.columns)
        return GAP + column * (SIDE + GAP), LINE + GAP + row * (self._picture_height + LINE + GAP)


def draw_spotlights(lights: Spotlights, *, ident: str) -> Markup:
    """The drawing for a page. The pixels stand in it once; each look shows them under its shade."""
    return tag(
        "svg",
        tag("title", lights.title, id=f"{ident}-title"),
        tag("desc", describe(lights), id=f"{ident}-desc"),
        tag("text", lights.title, x=GAP, y=LINE, style="font-weight: 600; fill: var(--ink)"),
        tag("defs", tag("g", *_pixels(lights), id=f"{ident}-picture", shape_rendering="crispEdges")),
        *[_look(lights, number, ident) for number in range(len(lights.looks))],
        viewBox=f"0 0 {lights.width:g} {lights.height:g}",
        width=round(lights.width),
        height=round(lights.height),
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
        style="max-width: 100%; height: auto",
    )


def describe(lights: Spotlights) -> str:
    """
    >>> describe(Spotlights("", [[(1, 1, 1)]], [Look("picture"), Look("red", [[0.1, 0.7], [0.1, 0.1]])]))
    'red: row 1, column 2 (70 %).'
    """
    found = []
    for look in lights.looks:
        squares = [(weight, row, column) for row, line in enumerate(look.weights, start=1) for column, weight in enumerate(line, start=1)]
        if squares:
            weight, row, column = max(squares)
            found.append(f"{look.words}: row {row}, column {column} ({weight:.0%})".replace("%)", " %)"))
    return "; ".join(found) + "."


def _pixels(lights: Spotlights) -> list[Markup]:
    """Neighbours of one colour are one strip."""
    size = SIDE / len(lights.pixels[0])
    strips = []
    for row, line in enumerate(lights.pixels):
        begin = 0
        for column in range(1, len(line) + 1):
            if column == len(line) or line[column] != line[begin]:
                box = {"x": begin * size, "y": row * size, "width": (column - begin) * size, "height": size}
                strips.append(tag("rect", **box, fill=_colour(line[begin])))
                begin = column
    return strips


def _look(lights: Spotlights, number: int, ident: str) -> Markup:
    look = lights.looks[number]
    left, top = lights.corner(number)
    height = SIDE * len(lights.pixels) / len(lights.pixels[0])
    brightest = max((weight for line in look.weights for weight in line), default=1.0) or 1.0
    shades = []
    for row, line in enumerate(look.weights):
        for column, weight in enumerate(line):
            wide, high = SIDE / len(line), height / len(look.weights)
            hint = tag("title", f"{look.words}: {weight:.3f}")
            box = {"x": column * wide, "y": row * high, "width": wide, "height": high}
            shades.append(tag("rect", hint, **box, fill="#10151a", fill_opacity=SHADE * (1 - weight / brightest)))
    frame = tag("rect", x=0.0, y=0.0, width=SIDE, height=height, style="fill: none; stroke: var(--rule)")
    words = tag("text", look.words, x=SIDE / 2, y=height + LINE - 4, text_anchor="middle", style="fill: var(--ink)")
    return tag("g", tag("use", href=f"#{ident}-picture"), *shades, frame, words, transform=f"translate({left:g} {top:g})")


def _colour(pixel: Pixel) -> str:
    """
    >>> _colour((1.0, 0.5, -0.2))
    '#ff8000'
    """
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in pixel)

"""Attention over an image as SVG: copies of a small image, brighter where the attention is, per word of a
caption or per attention head.
"""

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
class AttentionView:
    """One attention map over the image: its label, and a weight for each square of a grid; None for the
    plain image.
    """

    words: str
    weights: Sequence[Sequence[float]] = field(default_factory=list)


@dataclass(frozen=True)
class ImageAttentionMap:
    """An image as rows of pixels, and its attention maps, arranged in columns."""

    title: str
    pixels: Sequence[Sequence[Pixel]]
    views: Sequence[AttentionView]
    columns: int = 5

    @property
    def width(self) -> float:
        return min(self.columns, len(self.views)) * (SIDE + GAP) + GAP

    @property
    def height(self) -> float:
        rows = -(-len(self.views) // self.columns)
        return LINE + rows * (self._image_height + LINE + GAP) + GAP

    @property
    def _image_height(self) -> float:
        return SIDE * len(self.pixels) / len(self.pixels[0])

    def corner(self, index: int) -> tuple[float, float]:
        """The top left corner of a map."""
        row, column = divmod(index, self.columns)
        return GAP + column * (SIDE + GAP), LINE + GAP + row * (self._image_height + LINE + GAP)


def draw_image_attention(attention: ImageAttentionMap, *, ident: str) -> Markup:
    """The SVG for a page. It contains the pixels once; each map reuses them below its shading."""
    return tag(
        "svg",
        tag("title", attention.title, id=f"{ident}-title"),
        tag("desc", describe_image_attention(attention), id=f"{ident}-desc"),
        tag("text", attention.title, x=GAP, y=LINE, style="font-weight: 600; fill: var(--ink)"),
        tag("defs", tag("g", *_draw_pixels(attention), id=f"{ident}-image", shape_rendering="crispEdges")),
        *[_draw_view(attention, index, ident) for index in range(len(attention.views))],
        viewBox=f"0 0 {attention.width:g} {attention.height:g}",
        width=round(attention.width),
        height=round(attention.height),
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
        style="max-width: 100%; height: auto",
    )


def describe_image_attention(attention: ImageAttentionMap) -> str:
    """
    >>> describe_image_attention(ImageAttentionMap("", [[(1, 1, 1)]], [AttentionView("image"), AttentionView("red", [[0.1, 0.7], [0.1, 0.1]])]))
    'red: row 1, column 2 (70%).'
    """
    strongest = []
    for view in attention.views:
        cells = [
            (weight, row, column)
            for row, line in enumerate(view.weights, start=1)
            for column, weight in enumerate(line, start=1)
        ]
        if cells:
            weight, row, column = max(cells)
            strongest.append(f"{view.words}: row {row}, column {column} ({weight:.0%})")
    return "; ".join(strongest) + "."


def _draw_pixels(attention: ImageAttentionMap) -> list[Markup]:
    """Adjacent pixels of the same color are merged into one strip."""
    size = SIDE / len(attention.pixels[0])
    runs = []
    for row, line in enumerate(attention.pixels):
        begin = 0
        for column in range(1, len(line) + 1):
            if column == len(line) or line[column] != line[begin]:
                box = {"x": begin * size, "y": row * size, "width": (column - begin) * size, "height": size}
                runs.append(tag("rect", **box, fill=_hex_color(line[begin])))
                begin = column
    return runs


def _draw_view(attention: ImageAttentionMap, index: int, ident: str) -> Markup:
    view = attention.views[index]
    left, top = attention.corner(index)
    height = SIDE * len(attention.pixels) / len(attention.pixels[0])
    brightest = max((weight for line in view.weights for weight in line), default=1.0) or 1.0
    shades = []
    for row, line in enumerate(view.weights):
        for column, weight in enumerate(line):
            cell_width, cell_height = SIDE / len(line), height / len(view.weights)
            hint = tag("title", f"{view.words}: {weight:.3f}")
            box = {
                "x": column * cell_width,
                "y": row * cell_height,
                "width": cell_width,
                "height": cell_height,
            }
            shades.append(
                tag("rect", hint, **box, fill="#10151a", fill_opacity=SHADE * (1 - weight / brightest))
            )
    frame = tag("rect", x=0.0, y=0.0, width=SIDE, height=height, style="fill: none; stroke: var(--rule)")
    words = tag(
        "text", view.words, x=SIDE / 2, y=height + LINE - 4, text_anchor="middle", style="fill: var(--ink)"
    )
    return tag(
        "g",
        tag("use", href=f"#{ident}-image"),
        *shades,
        frame,
        words,
        transform=f"translate({left:g} {top:g})",
    )


def _hex_color(pixel: Pixel) -> str:
    """
    >>> _hex_color((1.0, 0.5, -0.2))
    '#ff8000'
    """
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in pixel)

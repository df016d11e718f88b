"""A map of words as SVG: a point for each word, labels where there is space, and the nearest words on
hover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, display_width
from seqlab.pages.html import Markup, tag

MARGIN, FOOTER_HEIGHT = 46.0, 34.0
FONT, RADIUS = 12.0, 3.2
MAX_LABEL_CHARACTERS = 18
STYLE = """
.word circle { fill: var(--dot) } .word-name.crowded, .word-near { display: none }
.word:hover .word-name { display: inline; font-weight: 650 } .word:hover .word-near { display: inline } .word:hover circle { fill: var(--c1) }
"""
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True)
class EmbeddingPoint:
    """A word, its coordinates, and its nearest neighbors in all dimensions as text."""

    word: str
    x: float
    y: float
    neighbors: Sequence[str] = ()
    is_highlighted: bool = False
    """Whether the user requested this word: its label is placed first and larger."""


@dataclass(frozen=True)
class EmbeddingMap:
    """A map.

    `explained_variance` is the share of the variance on each axis; `pairs` are connected by arrows.
    """

    title: str
    words: Sequence[EmbeddingPoint]
    explained_variance: tuple[float, float]
    pairs: Sequence[tuple[str, str]] = ()
    width: float = 860.0
    height: float = 600.0

    def description(self) -> str:
        """
        >>> EmbeddingMap("", [], explained_variance=(0.25, 0.125)).description()
        'The map shows 38% of the variance of the vectors: 25% horizontally, 12% vertically.'
        """
        across, up = (100 * share for share in self.explained_variance)
        return (
            f"The map shows {across + up:.0f}% of the variance of the vectors: {across:.0f}%"
            f" horizontally, {up:.0f}% vertically."
        )


def draw_embedding_map(embedding_map: EmbeddingMap, *, ident: str) -> Markup:
    """The SVG for a page. Both axes have the same scale, so lengths and directions are comparable."""
    positions = _pixel_positions(embedding_map)
    return tag(
        "svg",
        tag("title", embedding_map.title, id=f"{ident}-title"),
        tag("desc", embedding_map.description(), id=f"{ident}-desc"),
        tag("style", Markup(STYLE)),
        tag("text", embedding_map.title, x=MARGIN / 2, y=18.0, style="font-weight: 600; fill: var(--ink)"),
        *_arrows(embedding_map, positions),
        *_points(embedding_map, positions),
        viewBox=f"0 0 {embedding_map.width:g} {embedding_map.height + FOOTER_HEIGHT:g}",
        width=round(embedding_map.width),
        height=round(embedding_map.height + FOOTER_HEIGHT),
        style="max-width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def _pixel_positions(embedding_map: EmbeddingMap) -> dict[str, tuple[float, float]]:
    """The pixel coordinates of every word, with the map centered and the y axis pointing up."""
    xs, ys = [word.x for word in embedding_map.words], [word.y for word in embedding_map.words]
    spans = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)
    scale = min(
        (embedding_map.width - 2.5 * MARGIN) / spans[0], (embedding_map.height - 2 * MARGIN) / spans[1]
    )
    left, top = (embedding_map.width - scale * spans[0]) / 2, (embedding_map.height - scale * spans[1]) / 2
    return {
        word.word: (left + scale * (word.x - min(xs)), top + scale * (max(ys) - word.y))
        for word in embedding_map.words
    }


def _points(embedding_map: EmbeddingMap, positions: dict[str, tuple[float, float]]) -> Iterator[Markup]:
    taken: list[Rectangle] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in positions.values()]
    for index, word in sorted(enumerate(embedding_map.words), key=lambda entry: not entry[1].is_highlighted):
        (x, y), label = positions[word.word], abbreviate(word.word, MAX_LABEL_CHARACTERS)
        side = _free_side(x, y, label, taken, own_index=index, width=embedding_map.width)
        anchor_point, anchor = _label_anchor(x, y, side or 0)
        hint = f"{word.word} is close to {', '.join(word.neighbors)}" if word.neighbors else word.word
        kind = f"halo word-name{'' if side is not None else ' crowded'}"
        yield tag(
            "g",
            tag("title", hint),
            tag(
                "circle", cx=x, cy=y, r=RADIUS, style=f"--dot: var(--{'c3' if word.is_highlighted else 'c0'})"
            ),
            tag(
                "text",
                label,
                x=anchor_point[0],
                y=anchor_point[1],
                text_anchor=anchor,
                class_=kind,
                style="font-weight: 650" if word.is_highlighted else None,
            ),
            tag(
                "text",
                hint,
                x=MARGIN / 2,
                y=embedding_map.height + FOOTER_HEIGHT / 2,
                class_="halo word-near",
            ),
            class_="word",
        )


def _label_anchor(x: float, y: float, side: int) -> tuple[tuple[float, float], str]:
    """Label anchors: right, left, above and below the point."""
    return [
        ((x + 6, y + 4), "start"),
        ((x - 6, y + 4), "end"),
        ((x, y - 7), "middle"),
        ((x, y + 16), "middle"),
    ][side]


def _free_side(
    x: float, y: float, label: str, taken: list[Rectangle], *, own_index: int, width: float
) -> int | None:
    """The first side on which the label covers nothing; its space is then reserved.

    Labels of earlier words take precedence.
    """
    label_width = 0.56 * FONT * display_width(label)
    for side in range(4):
        (anchor_point, base), anchor = _label_anchor(x, y, side)
        start = (
            anchor_point
            if anchor == "start"
            else anchor_point - label_width
            if anchor == "end"
            else anchor_point - label_width / 2
        )
        box = (start, base - 0.8 * FONT, start + label_width, base + 0.25 * FONT)
        inside = box[0] > 2 and box[2] < width - 2 and box[1] > 2
        if inside and not any(
            _overlap(box, other) for index, other in enumerate(taken) if index != own_index
        ):
            taken.append(box)
            return side
    return None


def _overlap(first: Rectangle, second: Rectangle) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _arrows(embedding_map: EmbeddingMap, positions: dict[str, tuple[float, float]]) -> Iterator[Markup]:
    for start, end in embedding_map.pairs:
        (x0, y0), (x1, y1) = positions[start], positions[end]
        length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
        along, up = (x1 - x0) / length, (y1 - y0) / length
        tip = (x1 - 6 * along, y1 - 6 * up)
        corners = [
            (tip[0] - 9 * along + sign * 4 * up, tip[1] - 9 * up - sign * 4 * along) for sign in (1, -1)
        ]
        shaft, head = _svg_path([(x0, y0), tip]), _svg_path([corners[0], tip, corners[1]])
        style = "fill: none; stroke: var(--c1); stroke-width: 1.6; opacity: .75"
        yield tag("path", tag("title", f"from {start} to {end}"), d=shaft + head, style=style)


def _svg_path(points: Sequence[tuple[float, float]]) -> str:
    """
    >>> _svg_path([(0, 1), (2.25, 3)])
    'M0.0 1.0L2.2 3.0'
    """
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

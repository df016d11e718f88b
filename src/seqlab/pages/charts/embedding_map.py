"""A map of words as SVG: a point for each, names where there is room, and the nearest words of the one that is pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, columns
from seqlab.pages.html import Markup, tag

MARGIN, BELOW = 46.0, 34.0
FONT, RADIUS = 12.0, 3.2
MOST_LETTERS = 18
STYLE = """
.word circle { fill: var(--dot) } .word-name.crowded, .word-near { display: none }
.word:hover .word-name { display: inline; font-weight: 650 } .word:hover .word-near { display: inline } .word:hover circle { fill: var(--c1) }
"""
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True)
class PlaneWord:
    """A word, its place, and what lies near it in all dimensions, in words."""

    word: str
    x: float
    y: float
    near: Sequence[str] = ()
    strong: bool = False
    """Whether somebody has asked for it: its name is written first and larger."""


@dataclass(frozen=True)
class WordPlane:
    """A map. `shares` say how much of what the vectors differ in each axis shows; `pairs` are joined by arrows."""

    title: str
    words: Sequence[PlaneWord]
    shares: tuple[float, float]
    pairs: Sequence[tuple[str, str]] = ()
    wide: float = 860.0
    high: float = 600.0

    def about(self) -> str:
        """
        >>> WordPlane("", [], shares=(0.25, 0.125)).about()
        'The plane shows 38 % of what their vectors differ in: 25 % along, 12 % up.'
        """
        across, up = (100 * share for share in self.shares)
        return f"The plane shows {across + up:.0f} % of what their vectors differ in: {across:.0f} % along, {up:.0f} % up."


def draw_word_plane(plane: WordPlane, *, ident: str) -> Markup:
    """The drawing for a page. Both axes have one scale, so lengths and directions can be compared."""
    places = _places(plane)
    return tag(
        "svg",
        tag("title", plane.title, id=f"{ident}-title"),
        tag("desc", plane.about(), id=f"{ident}-desc"),
        tag("style", Markup(STYLE)),
        tag("text", plane.title, x=MARGIN / 2, y=18.0, style="font-weight: 600; fill: var(--ink)"),
        *_arrows(plane, places),
        *_points(plane, places),
        viewBox=f"0 0 {plane.wide:g} {plane.high + BELOW:g}",
        width=round(plane.wide),
        height=round(plane.high + BELOW),
        style="max-width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def _places(plane: WordPlane) -> dict[str, tuple[float, float]]:
    """Pixels of every word, the map in the middle; up is up."""
    xs, ys = [word.x for word in plane.words], [word.y for word in plane.words]
    spans = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)
    scale = min((plane.wide - 2.5 * MARGIN) / spans[0], (plane.high - 2 * MARGIN) / spans[1])
    left, top = (plane.wide - scale * spans[0]) / 2, (plane.high - scale * spans[1]) / 2
    return {word.word: (left + scale * (word.x - min(xs)), top + scale * (max(ys) - word.y)) for word in plane.words}


def _points(plane: WordPlane, places: dict[str, tuple[float, float]]) -> Iterator[Markup]:
    taken: list[Rectangle] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in places.values()]
    for index, word in sorted(enumerate(plane.words), key=lambda entry: not entry[1].strong):
        (x, y), shown = places[word.word], abbreviate(word.word, MOST_LETTERS)
        side = _free_side(x, y, shown, taken, own=index, wide=plane.wide)
        at, anchor = _at(x, y, side or 0)
        near = f"{word.word} lies near {', '.join(word.near)}" if word.near else word.word
        kind = f"halo word-name{'' if side is not None else ' crowded'}"
        yield tag(
            "g",
            tag("title", near),
            tag("circle", cx=x, cy=y, r=RADIUS, style=f"--dot: var(--{'c3' if word.strong else 'c0'})"),
            tag("text", shown, x=at[0], y=at[1], text_anchor=anchor, class_=kind, style="font-weight: 650" if word.strong else None),
            tag("text", near, x=MARGIN / 2, y=plane.high + BELOW / 2, class_="halo word-near"),
            class_="word",
        )


def _at(x: float, y: float, side: int) -> tuple[tuple[float, float], str]:
    """Where a name begins, ends or has its middle: right, left, above, below of its point."""
    return [((x + 6, y + 4), "start"), ((x - 6, y + 4), "end"), ((x, y - 7), "middle"), ((x, y + 16), "middle")][side]


def _free_side(x: float, y: float, shown: str, taken: list[Rectangle], *, own: int, wide: float) -> int | None:
    """The first side on which the name covers nothing; the room is taken then. The names of earlier words go first."""
    long = 0.56 * FONT * columns(shown)
    for side in range(4):
        (at, base), anchor = _at(x, y, side)
        start = at if anchor == "start" else at - long if anchor == "end" else at - long / 2
        room = (start, base - 0.8 * FONT, start + long, base + 0.25 * FONT)
        inside = room[0] > 2 and room[2] < wide - 2 and room[1] > 2
        if inside and not any(_overlap(room, other) for place, other in enumerate(taken) if place != own):
            taken.append(room)
            return side
    return None


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _arrows(plane: WordPlane, places: dict[str, tuple[float, float]]) -> Iterator[Markup]:
    for start, end in plane.pairs:
        (x0, y0), (x1, y1) = places[start], places[end]
        length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
        along, up = (x1 - x0) / length, (y1 - y0) / length
        tip = (x1 - 6 * along, y1 - 6 * up)
        corners = [(tip[0] - 9 * along + sign * 4 * up, tip[1] - 9 * up - sign * 4 * along) for sign in (1, -1)]
        shaft, head = _joined([(x0, y0), tip]), _joined([corners[0], tip, corners[1]])
        style = "fill: none; stroke: var(--c1); stroke-width: 1.6; opacity: .75"
        yield tag("path", tag("title", f"from {start} to {end}"), d=shaft + head, style=style)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    """
    >>> _joined([(0, 1), (2.25, 3)])
    'M0.0 1.0L2.2 3.0'
    """
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

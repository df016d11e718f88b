"""Who looks at whom as SVG: a square for every pair of steps, darker where more weight lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, columns
from seqlab.pages.charts.shading import box, letters
from seqlab.pages.html import Markup, tag

CELL, FONT, GAP, TITLE = 30.0, 12.0, 12.0, 22.0
MOST_STEPS = 80
MOST_LETTERS = 16


@dataclass(frozen=True)
class AlignmentMap:
    """One matrix of weights: every row is a step that looks, every column a step that is looked at; rows add up to 1 (or to 0)."""

    title: str
    looking: Sequence[str]
    looked_at: Sequence[str]
    weights: Sequence[Sequence[float]]
    numbers: bool = False
    """Whether the weights are also written into the squares."""

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.looking) or any(len(row) != len(self.looked_at) for row in self.weights):
            raise ValueError(f"{len(self.looking)} rows of {len(self.looked_at)} weights are needed")
        if max(len(self.looking), len(self.looked_at)) > MOST_STEPS:
            raise ValueError(f"at most {MOST_STEPS} steps can be read in one picture")

    @property
    def margin(self) -> tuple[float, float]:
        """Room for the words: left of the squares, and above them."""
        left, above = (max((columns(_short(word)) for word in words), default=0) for words in (self.looking, self.looked_at))
        return GAP + 0.62 * FONT * left + 6, TITLE + GAP + 0.62 * FONT * above + 6

    @property
    def size(self) -> tuple[float, float]:
        left, above = self.margin
        return max(left + CELL * len(self.looked_at) + GAP, 8.0 * columns(self.title)), above + CELL * len(self.looking) + GAP


def draw_alignment(alignment: AlignmentMap, *, ident: str) -> Markup:
    """The drawing for a page."""
    width, height = alignment.size
    left, above = alignment.margin
    span = {"width": CELL * len(alignment.looked_at), "height": CELL * len(alignment.looking)}
    return tag(
        "svg",
        tag("title", alignment.title, id=f"{ident}-title"),
        tag("desc", describe(alignment), id=f"{ident}-desc"),
        tag("text", alignment.title, x=GAP, y=TITLE - 4, style="font-weight: 600; fill: var(--ink)"),
        tag("rect", x=left, y=above, style="fill: var(--panel); stroke: var(--rule)", **span),
        *_words(alignment),
        *_squares(alignment),
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        style="max-width: 100%; height: auto",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def describe(alignment: AlignmentMap) -> str:
    """Where each step looks most, in words.

    >>> describe(AlignmentMap("", ["it", "was"], ["the", "dog"], [[0.1, 0.9], [0.0, 0.0]]))
    'it looks most at dog (90%); was looks at nothing.'
    """
    strongest = []
    for word, row in zip(alignment.looking, alignment.weights, strict=True):
        best = max(range(len(row)), key=lambda column: row[column])
        strongest.append(f"{word} looks most at {alignment.looked_at[best]} ({row[best]:.0%})" if row[best] > 0 else f"{word} looks at nothing")
    return "; ".join(strongest) + "."


def _short(word: str) -> str:
    return abbreviate(word, MOST_LETTERS)


def _words(alignment: AlignmentMap) -> Iterator[Markup]:
    left, above = alignment.margin
    for number, word in enumerate(alignment.looking):
        yield tag("text", _short(word), x=left - 6, y=above + CELL * (number + 0.5) + 4, text_anchor="end", style="fill: var(--ink)")
    for number, word in enumerate(alignment.looked_at):
        place = f"translate({left + CELL * (number + 0.5) + 4:g} {above - 6:g}) rotate(-90)"
        yield tag("text", _short(word), transform=place, style="fill: var(--ink)")


def _squares(alignment: AlignmentMap) -> Iterator[Markup]:
    left, above = alignment.margin
    for row, weights in enumerate(alignment.weights):
        for column, weight in enumerate(weights):
            x, y = left + CELL * column, above + CELL * row
            about = tag("title", f"{alignment.looking[row]} at {alignment.looked_at[column]}: {weight:.3f}")
            parts = [box(x, y, CELL, CELL, share=weight)] if weight > 0 else []
            if alignment.numbers:
                parts.append(letters(f"{weight:.2f}", x + CELL / 2, y + CELL / 2, share=weight, size=10.0))
            yield tag("g", about, *parts)

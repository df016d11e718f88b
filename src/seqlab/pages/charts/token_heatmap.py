"""A text as strips of tokens as SVG: one strip for every head or query, each token as dark as its weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, columns
from seqlab.pages.charts.shading import CONTRAST, box, letters
from seqlab.pages.html import Markup, tag, visible

FONT, LINE, PAD, TITLE = 13.0, 26.0, 5.0, 24.0
LETTER = 0.61 * FONT  # of a monospaced font
BETWEEN = 10.0
MOST_LETTERS = 24
EVEN = 1 / CONTRAST
"""Takes the contrast of maps back: beside the strongest token of its own strip a weight needs none."""
SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}
"""What stands for tokens that cannot be seen."""


@dataclass(frozen=True)
class Strip:
    """The weights of one head or one query, a number for every token."""

    name: str
    weights: Sequence[float]


@dataclass(frozen=True)
class TokenStrips:
    """A text and who looks where in it."""

    title: str
    tokens: Sequence[str]
    strips: Sequence[Strip]
    asking: int | None = None
    """The place of the token that looks; it gets a frame."""
    darkest: float | None = None
    """The weight that is drawn darkest, where several pictures are to be compared; else the strongest of each strip is."""

    def __post_init__(self) -> None:
        if wrong := [strip.name for strip in self.strips if len(strip.weights) != len(self.tokens)]:
            raise ValueError(f"{len(self.tokens)} tokens need as many weights, unlike in: {', '.join(wrong)}")


@dataclass(frozen=True)
class Cell:
    """The place of one token in a strip."""

    x: float
    line: int
    width: float
    shown: str


def draw_token_strips(strips: TokenStrips, *, ident: str, width: float = 760.0) -> Markup:
    """The drawing for a page. Long texts go on in the next line; the strongest token of a strip is the darkest, its weight stands on the left."""
    margin = _margin(strips)
    cells = _laid_out(strips.tokens, width - margin)
    strip_height = max(2, 1 + max((cell.line for cell in cells), default=0)) * LINE + BETWEEN
    wide = margin + max((cell.x + cell.width for cell in cells), default=0.0) + BETWEEN
    wide, height = max(wide, 8.0 * columns(strips.title)), TITLE + BETWEEN + strip_height * len(strips.strips)
    return tag(
        "svg",
        tag("title", strips.title, id=f"{ident}-title"),
        tag("desc", describe(strips), id=f"{ident}-desc"),
        tag("text", strips.title, x=BETWEEN, y=TITLE - 6, style="font-weight: 600; fill: var(--ink)"),
        *[
            tag("g", *_drawn(strip, cells, strips, left=margin, top=TITLE + BETWEEN + number * strip_height))
            for number, strip in enumerate(strips.strips)
        ],
        viewBox=f"0 0 {wide:g} {height:g}",
        width=round(wide),
        height=round(height),
        style="max-width: 100%; height: auto",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def describe(strips: TokenStrips) -> str:
    """The strongest token of each strip, in words.

    >>> describe(TokenStrips("", ["red", "blue"], [Strip("head 1", [0.25, 0.75]), Strip("head 2", [0.0, 0.0])]))
    'head 1: most on blue (0.75); head 2: nothing.'
    """
    return "; ".join(f"{strip.name}: {_most(strip, strips.tokens)}" for strip in strips.strips) + "."


def _most(strip: Strip, tokens: Sequence[str]) -> str:
    best = max(range(len(tokens)), key=lambda place: strip.weights[place], default=None)
    return "nothing" if best is None or strip.weights[best] <= 0 else f"most on {_shown(tokens[best])} ({strip.weights[best]:.2f})"


def _margin(strips: TokenStrips) -> float:
    longest = max((max(columns(strip.name), len("strongest 0.00")) for strip in strips.strips), default=0)
    return 2 * BETWEEN + 0.58 * FONT * longest


def _shown(token: str) -> str:
    return abbreviate("".join(SIGNS.get(letter, letter) for letter in token), MOST_LETTERS)


def _laid_out(tokens: Sequence[str], width: float) -> list[Cell]:
    """Tokens one after the other, in lines of that width."""
    cells: list[Cell] = []
    x, line = 0.0, 0
    for token in tokens:
        shown = _shown(token)
        wide = max(1, columns(visible(shown))) * LETTER + 2 * PAD
        if x > 0 and x + wide > width:
            x, line = 0.0, line + 1
        cells.append(Cell(x, line, wide, shown))
        x += wide
    return cells


def _drawn(strip: Strip, cells: Sequence[Cell], strips: TokenStrips, *, left: float, top: float) -> Iterator[Markup]:
    strongest = max(strip.weights, default=0.0)
    darkest = strongest if strips.darkest is None else strips.darkest
    yield tag("text", strip.name, x=BETWEEN, y=top + 0.5 * LINE + 4, style="fill: var(--ink)")
    yield tag("text", f"strongest {strongest:.2f}", x=BETWEEN, y=top + 1.5 * LINE, style="fill: var(--quiet); font-size: 11px")
    for place, (cell, weight) in enumerate(zip(cells, strip.weights, strict=True)):
        x, y, share = left + cell.x, top + cell.line * LINE, (weight / darkest) ** EVEN if darkest > 0 else 0.0
        parts = [tag("title", f"{cell.shown}: {weight:.3f}"), box(x, y, cell.width, LINE, share=share)]
        if place == strips.asking:
            parts.append(
                tag("rect", x=x + 1, y=y + 1, width=cell.width - 2, height=LINE - 2, rx=2, style="fill: none; stroke: var(--c1); stroke-width: 2")
            )
        yield tag("g", *parts, letters(cell.shown, x + cell.width / 2, y + LINE / 2, share=share, size=FONT, mono=True))

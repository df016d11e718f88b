"""Token heat maps as SVG: one strip of tokens for every head or query, darker for larger weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, display_width
from seqlab.pages.charts.shading import CONTRAST, shaded_box, shaded_text
from seqlab.pages.html import Markup, make_visible, tag

FONT, LINE, PAD, TITLE = 13.0, 26.0, 5.0, 24.0
CHARACTER_WIDTH = 0.61 * FONT  # of a monospaced font
ROW_GAP = 10.0
MAX_TOKEN_CHARACTERS = 24
UNDO_CONTRAST = 1 / CONTRAST
"""Undoes the contrast of attention maps, since weights are relative to the strongest token of their strip."""
WHITESPACE_SYMBOLS = {" ": "␣", "\n": "↵", "\t": "⇥"}
"""Visible replacements for whitespace tokens."""


@dataclass(frozen=True)
class HeatmapRow:
    """The weights of one head or one query, a number for every token."""

    name: str
    weights: Sequence[float]


@dataclass(frozen=True)
class TokenHeatmap:
    """A text and the attention weights over its tokens."""

    title: str
    tokens: Sequence[str]
    rows: Sequence[HeatmapRow]
    query_index: int | None = None
    """The index of the query token, which is framed."""
    max_weight: float | None = None
    """The weight that is drawn darkest, for comparing several figures; by default the strongest of each
    strip.
    """

    def __post_init__(self) -> None:
        if wrong := [row.name for row in self.rows if len(row.weights) != len(self.tokens)]:
            raise ValueError(
                f"{len(self.tokens)} tokens need {len(self.tokens)} weights; wrong number"
                f" in: {', '.join(wrong)}"
            )


@dataclass(frozen=True)
class TokenCell:
    """The position of one token in a strip."""

    x: float
    line: int
    width: float
    label: str


def draw_token_heatmap(heatmap: TokenHeatmap, *, ident: str, width: float = 760.0) -> Markup:
    """The SVG for a page.

    Long texts continue on the next line; the strongest token of a strip is the darkest, and its weight is on
    the left.
    """
    margin = _margin(heatmap)
    cells = _layout(heatmap.tokens, width - margin)
    row_height = max(2, 1 + max((cell.line for cell in cells), default=0)) * LINE + ROW_GAP
    total_width = margin + max((cell.x + cell.width for cell in cells), default=0.0) + ROW_GAP
    total_width, height = (
        max(total_width, 8.0 * display_width(heatmap.title)),
        TITLE + ROW_GAP + row_height * len(heatmap.rows),
    )
    return tag(
        "svg",
        tag("title", heatmap.title, id=f"{ident}-title"),
        tag("desc", describe_token_heatmap(heatmap), id=f"{ident}-desc"),
        tag("text", heatmap.title, x=ROW_GAP, y=TITLE - 6, style="font-weight: 600; fill: var(--ink)"),
        *[
            tag("g", *_draw_row(row, cells, heatmap, left=margin, top=TITLE + ROW_GAP + index * row_height))
            for index, row in enumerate(heatmap.rows)
        ],
        viewBox=f"0 0 {total_width:g} {height:g}",
        width=round(total_width),
        height=round(height),
        style="max-width: 100%; height: auto",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def describe_token_heatmap(heatmap: TokenHeatmap) -> str:
    """The strongest token of each strip as text.

    >>> describe_token_heatmap(TokenHeatmap("", ["red", "blue"], [HeatmapRow("head 1", [0.25, 0.75]), HeatmapRow("head 2", [0.0, 0.0])]))
    'head 1: highest weight on blue (0.75); head 2: nothing.'
    """
    return "; ".join(f"{row.name}: {_strongest_token(row, heatmap.tokens)}" for row in heatmap.rows) + "."


def _strongest_token(row: HeatmapRow, tokens: Sequence[str]) -> str:
    best = max(range(len(tokens)), key=lambda index: row.weights[index], default=None)
    return (
        "nothing"
        if best is None or row.weights[best] <= 0
        else f"highest weight on {_visible_token(tokens[best])} ({row.weights[best]:.2f})"
    )


def _margin(heatmap: TokenHeatmap) -> float:
    longest = max((max(display_width(row.name), len("strongest 0.00")) for row in heatmap.rows), default=0)
    return 2 * ROW_GAP + 0.58 * FONT * longest


def visible_whitespace(text: str) -> str:
    """
    >>> visible_whitespace(" the")
    '␣the'
    """
    return "".join(WHITESPACE_SYMBOLS.get(character, character) for character in text)


def _visible_token(token: str) -> str:
    return abbreviate(visible_whitespace(token), MAX_TOKEN_CHARACTERS)


def _layout(tokens: Sequence[str], width: float) -> list[TokenCell]:
    """Tokens one after the other, in lines of that width."""
    cells: list[TokenCell] = []
    x, line = 0.0, 0
    for token in tokens:
        label = _visible_token(token)
        cell_width = max(1, display_width(make_visible(label))) * CHARACTER_WIDTH + 2 * PAD
        if x > 0 and x + cell_width > width:
            x, line = 0.0, line + 1
        cells.append(TokenCell(x, line, cell_width, label))
        x += cell_width
    return cells


def _draw_row(
    row: HeatmapRow, cells: Sequence[TokenCell], heatmap: TokenHeatmap, *, left: float, top: float
) -> Iterator[Markup]:
    strongest = max(row.weights, default=0.0)
    max_weight = strongest if heatmap.max_weight is None else heatmap.max_weight
    yield tag("text", row.name, x=ROW_GAP, y=top + 0.5 * LINE + 4, style="fill: var(--ink)")
    yield tag(
        "text",
        f"maximum {strongest:.2f}",
        x=ROW_GAP,
        y=top + 1.5 * LINE,
        style="fill: var(--quiet); font-size: 11px",
    )
    for index, (cell, weight) in enumerate(zip(cells, row.weights, strict=True)):
        x, y, share = (
            left + cell.x,
            top + cell.line * LINE,
            (weight / max_weight) ** UNDO_CONTRAST if max_weight > 0 else 0.0,
        )
        parts = [tag("title", f"{cell.label}: {weight:.3f}"), shaded_box(x, y, cell.width, LINE, share=share)]
        if index == heatmap.query_index:
            parts.append(
                tag(
                    "rect",
                    x=x + 1,
                    y=y + 1,
                    width=cell.width - 2,
                    height=LINE - 2,
                    rx=2,
                    style="fill: none; stroke: var(--c1); stroke-width: 2",
                )
            )
        yield tag(
            "g",
            *parts,
            shaded_text(cell.label, x + cell.width / 2, y + LINE / 2, share=share, size=FONT, mono=True),
        )

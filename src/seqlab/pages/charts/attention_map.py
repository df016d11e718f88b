"""Attention maps as SVG: a square for every pair of steps, darker for larger weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import abbreviate, display_width
from seqlab.pages.charts.shading import shaded_box, shaded_text
from seqlab.pages.charts.token_heatmap import WHITESPACE_SYMBOLS
from seqlab.pages.html import Markup, tag

CELL, FONT, GAP, TITLE = 30.0, 12.0, 12.0, 22.0
MAX_STEPS = 80
MAX_LABEL_CHARACTERS = 16


@dataclass(frozen=True)
class AttentionMap:
    """One matrix of attention weights: rows are queries, columns are keys; rows sum to 1 (or to 0)."""

    title: str
    target_labels: Sequence[str]
    source_labels: Sequence[str]
    weights: Sequence[Sequence[float]]
    show_weights: bool = False
    """Whether the weights are also written into the squares."""

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.target_labels) or any(
            len(row) != len(self.source_labels) for row in self.weights
        ):
            raise ValueError(
                f"{len(self.target_labels)} rows of {len(self.source_labels)} weights are needed"
            )
        if max(len(self.target_labels), len(self.source_labels)) > MAX_STEPS:
            raise ValueError(f"at most {MAX_STEPS} steps fit into one figure")

    @property
    def margin(self) -> tuple[float, float]:
        """Space for the labels left of the squares and above them."""
        left, above = (
            max((display_width(_abbreviate(word)) for word in words), default=0)
            for words in (self.target_labels, self.source_labels)
        )
        return GAP + 0.62 * FONT * left + 6, TITLE + GAP + 0.62 * FONT * above + 6

    @property
    def size(self) -> tuple[float, float]:
        left, above = self.margin
        return max(
            left + CELL * len(self.source_labels) + GAP, 8.0 * display_width(self.title)
        ), above + CELL * len(self.target_labels) + GAP


def draw_attention_map(attention_map: AttentionMap, *, ident: str) -> Markup:
    """The drawing for a page."""
    width, height = attention_map.size
    left, above = attention_map.margin
    span = {
        "width": CELL * len(attention_map.source_labels),
        "height": CELL * len(attention_map.target_labels),
    }
    return tag(
        "svg",
        tag("title", attention_map.title, id=f"{ident}-title"),
        tag("desc", describe_attention_map(attention_map), id=f"{ident}-desc"),
        tag("text", attention_map.title, x=GAP, y=TITLE - 4, style="font-weight: 600; fill: var(--ink)"),
        tag("rect", x=left, y=above, style="fill: var(--panel); stroke: var(--rule)", **span),
        *_labels(attention_map),
        *_squares(attention_map),
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        style="max-width: 100%; height: auto",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def describe_attention_map(attention_map: AttentionMap) -> str:
    """The strongest attention of each step as text.

    >>> describe_attention_map(AttentionMap("", ["it", "was"], ["the", "dog"], [[0.1, 0.9], [0.0, 0.0]]))
    'it attends most to dog (90%); was attends to nothing.'
    """
    strongest = []
    for word, row in zip(attention_map.target_labels, attention_map.weights, strict=True):
        best = max(range(len(row)), key=lambda column: row[column])
        strongest.append(
            f"{word} attends most to {attention_map.source_labels[best]} ({row[best]:.0%})"
            if row[best] > 0
            else f"{word} attends to nothing"
        )
    return "; ".join(strongest) + "."


def _abbreviate(word: str) -> str:
    """A label as it is drawn; a token of whitespace has a visible sign.

    >>> _abbreviate(" "), _abbreviate("an"), _abbreviate("incomprehensibilities")
    ('␣', 'an', 'incomprehensibi…')
    """
    return WHITESPACE_SYMBOLS.get(word) or abbreviate(word, MAX_LABEL_CHARACTERS)


def _labels(attention_map: AttentionMap) -> Iterator[Markup]:
    left, above = attention_map.margin
    for index, word in enumerate(attention_map.target_labels):
        yield tag(
            "text",
            _abbreviate(word),
            x=left - 6,
            y=above + CELL * (index + 0.5) + 4,
            text_anchor="end",
            style="fill: var(--ink)",
        )
    for index, word in enumerate(attention_map.source_labels):
        x, y, label = left + CELL * (index + 0.5), above - 6, _abbreviate(word)
        if len(label) == 1:
            yield tag("text", label, x=x, y=y, text_anchor="middle", style="fill: var(--ink)")
        else:
            transform = f"translate({x + 4:g} {y:g}) rotate(-90)"
            yield tag("text", label, transform=transform, style="fill: var(--ink)")


def _squares(attention_map: AttentionMap) -> Iterator[Markup]:
    left, above = attention_map.margin
    for row, weights in enumerate(attention_map.weights):
        for column, weight in enumerate(weights):
            x, y = left + CELL * column, above + CELL * row
            hint = tag(
                "title",
                f"{attention_map.target_labels[row]} attends to {attention_map.source_labels[column]}:"
                f" {weight:.3f}",
            )
            parts = [shaded_box(x, y, CELL, CELL, share=weight)] if weight > 0 else []
            if attention_map.show_weights:
                parts.append(
                    shaded_text(f"{weight:.2f}", x + CELL / 2, y + CELL / 2, share=weight, size=10.0)
                )
            yield tag("g", hint, *parts)

"""The confusion matrix as SVG: each row is colored by the share of its true label, correct predictions in
one hue and mistakes in another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_percent
from seqlab.pages.report_data import ConfusionTable

MAX_CLASSES = 60
MAX_CLASSES_WITH_COUNTS = 20
CONTRAST = 0.5  # the exponent that keeps a share of 2% visible next to one of 90%


@dataclass(frozen=True)
class MatrixLayout:
    """Sizes in pixels for a number of classes."""

    cell: float
    font: float
    max_characters: int  # of a label
    margin: float  # for the labels, left and above

    @classmethod
    def for_matrix(cls, confusion: ConfusionTable) -> MatrixLayout:
        size = len(confusion.labels)
        cell = (
            56.0
            if size <= 6
            else 42.0
            if size <= 12
            else 32.0
            if size <= MAX_CLASSES_WITH_COUNTS
            else 17.0
            if size <= 40
            else 13.0
        )
        font = 12.0 if cell >= 32 else 10.5
        max_characters = 16 if cell >= 32 else 12
        longest = max(
            (display_width(abbreviate(label, max_characters)) for label in confusion.labels), default=0
        )
        return cls(cell, font, max_characters, margin=30 + 0.62 * font * longest)

    def corner(self, index: int) -> float:
        """The pixel at which a row or column starts.

        >>> MatrixLayout(cell=10.0, font=12.0, max_characters=5, margin=40.0).corner(3)
        70.0
        """
        return self.margin + index * self.cell


def draw_confusion_matrix(confusion: ConfusionTable, *, ident: str) -> Markup:
    """The matrix at a fixed size: a wide one scrolls instead of shrinking."""
    layout = MatrixLayout.for_matrix(confusion)
    side = layout.corner(len(confusion.labels)) + 2
    span = len(confusion.labels) * layout.cell
    axis = [
        tag(
            "text", "predicted", x=layout.margin + span / 2, y=12.0, text_anchor="middle", class_="axis-title"
        ),
        tag(
            "text",
            "truth",
            transform=f"translate(12 {layout.margin + span / 2:g}) rotate(-90)",
            text_anchor="middle",
            class_="axis-title",
        ),
    ]
    return tag(
        "svg",
        tag("title", "Confusion matrix", id=f"{ident}-title"),
        tag("desc", describe_confusion_matrix(confusion), id=f"{ident}-desc"),
        tag("rect", x=layout.margin, y=layout.margin, width=span, height=span, class_="heat-ground"),
        *axis,
        *_labels(confusion, layout),
        *_cells(confusion, layout),
        class_="heat",
        viewBox=f"0 0 {side:g} {side:g}",
        width=round(side),
        height=round(side),
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
        font_size=layout.font,
    )


def _labels(confusion: ConfusionTable, layout: MatrixLayout) -> Iterator[Markup]:
    for index, label in enumerate(confusion.labels):
        middle = layout.corner(index) + layout.cell / 2 + layout.font * 0.35
        short = abbreviate(label, layout.max_characters)
        full = tag("title", label) if short != label else Markup("")
        yield tag("text", short, full, x=layout.margin - 6, y=middle, text_anchor="end")
        yield tag("text", short, full, transform=f"translate({middle:.2f} {layout.margin - 6:g}) rotate(-90)")


def _cells(confusion: ConfusionTable, layout: MatrixLayout) -> Iterator[Markup]:
    for row, counts in enumerate(confusion.counts):
        total = sum(counts)
        for column, count in enumerate(counts):
            if count:
                yield _cell(confusion, layout, row, column, share=count / total)


def _cell(confusion: ConfusionTable, layout: MatrixLayout, row: int, column: int, *, share: float) -> Markup:
    x, y, count = layout.corner(column), layout.corner(row), confusion.counts[row][column]
    truth, predicted = abbreviate(confusion.labels[row], 60), abbreviate(confusion.labels[column], 60)
    hint = tag(
        "title", f"truth {truth}, predicted {predicted}: {count:,} ({format_percent(share)} of {truth})"
    )
    opacity = share**CONTRAST
    kind = "hit" if row == column else "miss"
    # A plain number: `tag` keeps two decimals of it, finer than the eye can see.
    box = tag(
        "rect",
        hint,
        x=x + 0.5,
        y=y + 0.5,
        width=layout.cell - 1,
        height=layout.cell - 1,
        class_=kind,
        fill_opacity=opacity,
    )
    if len(confusion.labels) > MAX_CLASSES_WITH_COUNTS:
        return box
    count_label = f"{count:,}" if 7 * len(f"{count:,}") < layout.cell else _short_count(count)
    style = "count strong" if opacity > 0.6 else "count"
    return tag(
        "g",
        box,
        tag(
            "text",
            count_label,
            x=x + layout.cell / 2,
            y=y + layout.cell / 2 + 4,
            text_anchor="middle",
            class_=style,
        ),
    )


def _short_count(count: int) -> str:
    """At most four characters, so that it fits into its cell.

    >>> [_short_count(count) for count in (7, 9999, 12_345, 2_500_000)]
    ['7', '9999', '12k', '2.5M']
    """
    if count < 10_000:
        return str(count)
    if count < 999_500:
        return f"{count / 1e3:.0f}k"
    return f"{count / 1e6:.1f}M" if count < 9_950_000 else f"{count / 1e6:.0f}M"


def display_width(label: str) -> int:
    """The width of a label in characters: wide scripts count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in label)


def abbreviate(label: str, max_characters: int) -> str:
    """The beginning of a label that fits into this many characters.

    >>> abbreviate("Norwegian Nynorsk", 10), abbreviate("Danish", 10)
    ('Norwegian…', 'Danish')
    """
    if len(label) <= max_characters and display_width(label) <= max_characters:
        return label
    kept = label[: max_characters - 1]
    while display_width(kept) > max_characters - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def describe_confusion_matrix(confusion: ConfusionTable) -> str:
    """
    >>> describe_confusion_matrix(ConfusionTable(["a", "b"], [[3, 1], [0, 4]]))
    '7 of 8 examples in 2 classes are correct (88%).'
    """
    total = sum(sum(row) for row in confusion.counts)
    correct = sum(row[index] for index, row in enumerate(confusion.counts))
    share = f" ({format_percent(correct / total)})" if total else ""
    return f"{correct:,} of {total:,} examples in {len(confusion.labels)} classes are correct{share}."


def most_confused_classes(confusion: ConfusionTable) -> ConfusionTable:
    """The matrix itself, or its part with the classes that have the most mistakes in their row and column."""
    size = len(confusion.labels)
    if size <= MAX_CLASSES:
        return confusion
    mistakes = [
        sum(confusion.counts[i]) + sum(row[i] for row in confusion.counts) - 2 * confusion.counts[i][i]
        for i in range(size)
    ]
    kept = sorted(sorted(range(size), key=lambda i: -mistakes[i])[:MAX_CLASSES])
    return ConfusionTable(
        [confusion.labels[i] for i in kept], [[confusion.counts[i][j] for j in kept] for i in kept]
    )

"""Small matrices with their numbers as SVG, in lines like equations: blue above zero, orange below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.confusion_matrix import display_width
from seqlab.pages.charts.shading import shaded_box, shaded_text
from seqlab.pages.html import Markup, tag

CELL_WIDTH, CELL_HEIGHT, FONT, GAP = 42.0, 26.0, 12.0, 16.0
HEADER_HEIGHT = 46.0
"""Space above the numbers for a title and the names of the columns."""


@dataclass(frozen=True)
class NumberGrid:
    """One matrix. `sign` precedes it and shows how it results from the matrices to its left."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    sign: str = ""

    def __post_init__(self) -> None:
        if len(self.values) != len(self.rows) or any(len(line) != len(self.columns) for line in self.values):
            raise ValueError(f"'{self.title}' needs {len(self.rows)} rows of {len(self.columns)} numbers")

    @property
    def margin(self) -> float:
        """Space for the sign and the row labels."""
        return (
            GAP
            + (0.62 * FONT * display_width(self.sign) + GAP if self.sign else 0.0)
            + 0.62 * FONT * max(display_width(name) for name in self.rows)
            + 6.0
        )

    @property
    def size(self) -> tuple[float, float]:
        return self.margin + max(
            CELL_WIDTH * len(self.columns), 7.0 * display_width(self.title)
        ), HEADER_HEIGHT + CELL_HEIGHT * len(self.rows) + GAP


def draw_number_grids(
    title: str, lines: Sequence[Sequence[NumberGrid]], *, ident: str, description: str
) -> Markup:
    """All rows of matrices."""
    width = max(sum(grid.size[0] for grid in line) for line in lines) + GAP
    height = sum(max(grid.size[1] for grid in line) for line in lines)
    parts: list[Markup] = []
    top = 0.0
    for line in lines:
        left = 0.0
        for grid in line:
            parts.append(tag("g", *_draw_grid(grid, left=left, top=top)))
            left += grid.size[0]
        top += max(grid.size[1] for grid in line)
    return tag(
        "svg",
        tag("title", title, id=f"{ident}-title"),
        tag("desc", description, id=f"{ident}-desc"),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        style="max-width: 100%; height: auto; grid-column: 1 / -1",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def _draw_grid(grid: NumberGrid, *, left: float, top: float) -> Iterator[Markup]:
    x, y = left + grid.margin, top + HEADER_HEIGHT
    middle = y + CELL_HEIGHT * len(grid.rows) / 2 + 5
    yield tag("text", grid.title, x=x, y=top + 18, style="font-weight: 600; fill: var(--ink)")
    if grid.sign:
        yield tag("text", grid.sign, x=left + GAP, y=middle, style="font-size: 15px; fill: var(--ink)")
    for index, name in enumerate(grid.columns):
        yield tag(
            "text",
            name,
            x=x + CELL_WIDTH * (index + 0.5),
            y=y - 6,
            text_anchor="middle",
            style="font-size: 11px; fill: var(--quiet)",
        )
    for index, name in enumerate(grid.rows):
        yield tag(
            "text",
            name,
            x=x - 6,
            y=y + CELL_HEIGHT * (index + 0.5) + 4,
            text_anchor="end",
            style="fill: var(--ink)",
        )
    largest = max((abs(value) for line in grid.values for value in line), default=0.0) or 1.0
    for row, line in enumerate(grid.values):
        for column, value in enumerate(line):
            corner, strength = (x + CELL_WIDTH * column, y + CELL_HEIGHT * row), abs(value) / largest
            yield shaded_box(
                *corner, CELL_WIDTH, CELL_HEIGHT, share=strength, color="c0" if value > 0 else "c1"
            )
            yield shaded_text(
                _format_value(value),
                corner[0] + CELL_WIDTH / 2,
                corner[1] + CELL_HEIGHT / 2,
                share=strength,
                size=11.0,
            )


def _format_value(value: float) -> str:
    """Two decimals, with a typographic minus sign and no negative zero.

    >>> _format_value(-1.236), _format_value(-0.001)
    ('−1.24', '0.00')
    """
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")

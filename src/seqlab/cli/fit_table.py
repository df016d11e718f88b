"""Formats a table to fit the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shutil import get_terminal_size

GAP = "  "
Table = Sequence[Mapping[str, str]]


def fit_table(rows: Table, *, width: int | None = None) -> list[str]:
    """Rows below a header; if that is too wide, transposed; if that is too wide as well, one block per row.

    >>> fit_table([{"run": "a", "accuracy": "0.91", "loss": "0.3"}], width=80)
    ['run  accuracy  loss', 'a    0.91      0.3']
    >>> fit_table([{"run": "a", "accuracy": "0.91", "loss": "0.3"}], width=16)
    ['run       a', 'accuracy  0.91', 'loss      0.3']
    >>> fit_table([{"run": "a", "accuracy": "0.91"}, {"run": "b", "accuracy": "0.92"}], width=12)
    ['a', '  accuracy  0.91', 'b', '  accuracy  0.92']
    """
    width = width or get_terminal_size().columns
    names = list(rows[0])
    table = [names, *([row[name] for name in names] for row in rows)]
    turned = [list(column) for column in zip(*table, strict=True)]
    for cells in (table, turned):
        lines = _aligned(cells)
        if max(map(len, lines)) <= width:
            return lines
    first, *rest = names
    blocks = [[row[first], *_aligned([["", name, row[name]] for name in rest])] for row in rows]
    return [line for block in blocks for line in block]


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        GAP.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]

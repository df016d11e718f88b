"""Formats a table to fit the terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from shutil import get_terminal_size

GAP = "  "
ANY_WIDTH = 1 << 20
"""For files and pipes, which have no width."""
Table = Sequence[Mapping[str, str]]


def fit_table(rows: Table, *, width: int | None = None, numbers: Collection[str] = ()) -> list[str]:
    """Rows below a header; if that is too wide, transposed; if that is too wide as well, one block per row.

    numbers: columns that are aligned on the right.

    >>> fit_table([{"run": "a", "accuracy": "0.91", "loss": "0.3"}], width=80)
    ['run  accuracy  loss', 'a    0.91      0.3']
    >>> fit_table([{"run": "a", "accuracy": "0.91", "loss": "0.3"}], width=80, numbers=("accuracy", "loss"))
    ['run  accuracy  loss', 'a        0.91   0.3']
    >>> fit_table([{"run": "a", "accuracy": "0.91", "loss": "0.3"}], width=16)
    ['run       a', 'accuracy  0.91', 'loss      0.3']
    >>> fit_table([{"run": "a", "accuracy": "0.91"}, {"run": "b", "accuracy": "0.92"}], width=12)
    ['a', '  accuracy  0.91', 'b', '  accuracy  0.92']
    """
    width = width or get_terminal_size().columns
    names = list(rows[0])
    table = [names, *([row[name] for name in names] for row in rows)]
    lines = _aligned(table, right=[place for place, name in enumerate(names) if name in numbers])
    if max(map(len, lines)) <= width:
        return lines
    transposed = _aligned([list(column) for column in zip(*table, strict=True)])
    if max(map(len, transposed)) <= width:
        return transposed
    first, *rest = names
    blocks = [[row[first], *_aligned([["", name, row[name]] for name in rest])] for row in rows]
    return [line for block in blocks for line in block]


def _aligned(table: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        GAP.join(
            f"{cell:>{width}}" if place in right else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]

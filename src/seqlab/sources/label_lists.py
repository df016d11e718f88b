"""Cells with several labels: a JSON list, or names with a separator."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, label_text

SEPARATORS = ("|", ";", ",")
"""Separators between names, in order of preference."""
MOSTLY_LISTS, LONGEST_NAME = 0.05, 4
"""Minimum fraction of cells with several labels for a column of lists, and maximum number of words of a label."""
LONGEST_CELL = 10_000
"""Longer cells are not searched for lists."""
NAME_KEYS = ("name", "label")
"""The keys of a label's name in a list of objects."""
CURE = (
    "Fix the row, skip such rows with data.bad_rows=skip, choose another column with"
    " data.label=NAME, or set the separator between labels with data.label_separator=X."
)


def labels_of(row: Row, column: str, *, separator: str) -> list[str]:
    """The distinct labels of a row; there may be none."""
    value = row.values.get(column)
    if isinstance(value, str) and not separator and (written := written_list(value)) is not None:
        return written
    if isinstance(value, str):
        parts: Iterable[object] = (part for part in value.split(separator)) if separator else [value]
        names = [str(part).strip() for part in parts]
        return list(dict.fromkeys(name for name in names if name))
    if value is None or isinstance(value, list):
        names = [label_text(part) for part in value or []]
        if all(names):
            return list(dict.fromkeys(names))
        raise DataError(
            f"entry {names.index('') + 1} of column '{column}' is not a label.", where=row.where, cure=CURE
        )
    if name := label_text(value):
        return [name]
    raise DataError(f"column '{column}' does not contain a list of labels.", where=row.where, cure=CURE)


def guess_separator(rows: Sequence[Row], column: str) -> str:
    """The separator between names in the first rows; empty if cells contain lists, or one name
    each.
    """
    cells = [value for row in rows if isinstance(value := row.values.get(column), str)]
    if holds_written_lists(cells):
        return ""
    return next((mark for mark in SEPARATORS if any(mark in cell for cell in cells)), "")


def written_list(cell: str) -> list[str] | None:
    """The distinct labels of a list that is written in a cell of a table, as JSON or as Python prints it; None if it is
    no such list.

    >>> written_list('[{"id": 28, "name": "Action"}]'), written_list("['news', 'live']"), written_list("[sic]")
    (['Action'], ['news', 'live'], None)
    """
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")) or len(cell) > LONGEST_CELL:
        return None
    try:
        parts = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            parts = ast.literal_eval(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    names = [
        next((part[key] for key in NAME_KEYS if key in part), None) if isinstance(part, dict) else part
        for part in parts
    ]
    found = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    return list(dict.fromkeys(found)) if len(found) == len(names) else None


def holds_written_lists(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are written lists, some of them of several labels."""
    lists = [written_list(cell) for cell in cells if cell.strip()]
    return all(names is not None for names in lists) and any(names and len(names) > 1 for names in lists)


def list_separator(cells: Sequence[str]) -> str:
    """The separator in cells that look like lists of labels: some cells have several short names from a
    small set, others have one. Empty if cells do not look like that.

    >>> list_separator(["sports;live", "sports", "business;live", "business", "live"])
    ';'
    >>> list_separator(["Graz, Austria", "Bonn, Germany"]), list_separator(["a", "b"])
    ('', '')
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    return next((mark for mark in SEPARATORS if _are_lists(filled, mark)), "")


def _are_lists(cells: Sequence[str], mark: str) -> bool:
    lists = [[part.strip() for part in cell.split(mark)] for cell in cells]
    several = sum(len(parts) > 1 for parts in lists)
    names = {part for parts in lists for part in parts}
    return (
        MOSTLY_LISTS * len(cells) <= several < len(cells)
        and 2 <= len(names) <= max(3, len(cells) // 3)
        and all(
            0 < len(name.split()) <= LONGEST_NAME and not name.replace(".", "").isdecimal() for name in names
        )
    )

"""Cells that hold several labels: a list in JSON, or names with a character between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, label_text

SEPARATORS = ("|", ";", ",")
"""What is looked for between names, in this order."""
MOSTLY_LISTS, LONGEST_NAME = 0.05, 4
"""The share of cells with several labels from which a column holds lists, and the words of a label."""
CURE = (
    "Fix the row, or skip such rows with data.bad_rows=skip; another column: data.label=NAME, other marks"
    " between names: data.label_separator=X."
)


def labels_of(row: Row, column: str, *, separator: str) -> list[str]:
    """The labels of a row, each once; none at all is an answer too."""
    value = row.values.get(column)
    if isinstance(value, str):
        parts: Iterable[object] = (part for part in value.split(separator)) if separator else [value]
        names = [str(part).strip() for part in parts]
        return list(dict.fromkeys(name for name in names if name))
    if value is None or isinstance(value, list):
        names = [label_text(part) for part in value or []]
        if all(names):
            return list(dict.fromkeys(names))
        raise DataError(
            f"entry {names.index('') + 1} of column '{column}' is no label.", where=row.where, cure=CURE
        )
    if name := label_text(value):
        return [name]
    raise DataError(f"column '{column}' holds no list of labels.", where=row.where, cure=CURE)


def guess_separator(rows: Sequence[Row], column: str) -> str:
    """The character that stands between names in the first rows; empty where cells hold lists, or one name
    each.
    """
    cells = [value for row in rows if isinstance(value := row.values.get(column), str)]
    return next((mark for mark in SEPARATORS if any(mark in cell for cell in cells)), "")


def list_separator(cells: Sequence[str]) -> str:
    """The character between the labels of cells that look like lists: some cells have several short names out of a
    small set, others have one. Empty where cells do not look like that.

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

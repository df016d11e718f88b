"""Cells that hold several labels: a list in JSON, or names with a character between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, label_text

SEPARATORS = ("|", ";", ",")
"""What is looked for between names, in this order."""
CURE = (
    "Mend the row, or skip such rows with data.bad_rows=skip; another column: data.label=NAME, other marks"
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

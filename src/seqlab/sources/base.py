"""The interface of data sources: named columns, and rows that know their file and line."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.errors import DataError, nearest
from seqlab.sources.bad_rows import BadRows, EmptyCell

STEPS = "steps"
"""The column with the numeric steps of a sequence, in sources that have them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Values are text in tables and lines, anything JSON has in JSONL, arrays in built-in image sets.
    """

    values: dict[str, Any]
    file: str
    line: int

    @property
    def where(self) -> str:
        return place_of(self.file, self.line)


IN_MEMORY, INPUTS = "table", "input"
"""The names used for a table, and for single inputs, passed in memory: they have no line numbers."""
SAVED_TABLE = re.compile(r"[\\/]tables[\\/][0-9a-f]{16}[\\/]table\.jsonl$")
"""Where `save_table` stores such a table."""


def source_name(path: Path) -> str:
    """The name of a file in messages; a table passed from Python is not a file to its user."""
    return IN_MEMORY if SAVED_TABLE.search(str(path)) else str(path)


def place_of(file: str, line: int) -> str:
    """
    >>> place_of("a.csv", 3), place_of("table", 3), place_of("input", 1)
    ('a.csv, line 3', 'row 3 of the table', 'input 1')
    """
    if file == INPUTS:
        return f"{INPUTS} {line}"
    return f"row {line} of the table" if file == IN_MEMORY else f"{file}, line {line}"


class Source(ABC):
    """Rows, streamed one at a time and read from the start on every pass, so that size does not matter."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    """File extensions of this format, in lowercase with the dot: (".csv",)."""
    name: str
    columns: list[str]
    bad_rows: BadRows = BadRows()
    notes: tuple[str, ...] = ()
    """Human-readable guesses made while opening the file: its encoding, where its header is."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """All rows in order. An unusable row raises DataError, or is skipped and counted."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hash that changes when the content does."""


class PairSource(Source):
    """A format that always holds pairs, such as a message and its translation: the first column is
    the source, the second the target.
    """


class TextSource(Source):
    """Plain text: rows are its lines, and it can be read as one long string as well."""

    columns: list[str]
    num_files: int = 1
    """Number of files that the text is read from; line numbers restart in each."""
    counts_every_line: bool = True
    """Whether row n of a single file is line n of it."""

    @abstractmethod
    def chunks(self, size: int) -> Iterator[str]:
        """The whole text with its line ends, in pieces of at most `size` characters, cut at line ends where
        there are any.
        """


def require_columns(source: Source, names: Iterable[str]) -> None:
    """Check that the source has all given columns; empty names are ignored."""
    for name in names:
        if name and name not in source.columns:
            raise DataError(
                f"there is no column '{name}'.", where=source.name, cure=nearest(name, source.columns)
            )


def text_of(row: Row, column: str) -> str:
    """The text in a cell; JSON and Parquet cells may contain other types, which are rejected."""
    value = row.values.get(column)
    if isinstance(value, str):
        return value
    if is_empty(value):
        raise _no_text(row, column)
    raise DataError(f"column '{column}' contains {_kind(value)}, expected text.", where=row.where, cure=_CURE)


def require_text(row: Row, column: str) -> None:
    """Check that a cell contains more than whitespace."""
    if is_empty(text_of(row, column)):
        raise _no_text(row, column)


def _no_text(row: Row, column: str) -> EmptyCell:
    return EmptyCell(f"column '{column}' has no text.", where=row.where, cure=_CURE)


def is_empty(value: object) -> bool:
    """Whether a cell is empty; a DataFrame marks missing values as NaN.

    >>> is_empty(None), is_empty(" "), is_empty(float("nan")), is_empty("no"), is_empty(0)
    (True, True, True, False, False)
    """
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def label_of(row: Row, column: str) -> str:
    """The class in a cell, as text without whitespace around it: 1 in JSON and "1" in a table are the same class,
    and so are "pos " and "pos". A list with one entry counts as that entry, as annotation tools write it.
    """
    value = row.values.get(column)
    if isinstance(value, list) and len(value) > 1:
        raise DataError(
            f"column '{column}' contains {len(value)} labels, expected one.",
            where=row.where,
            cure=f"For several labels per row, set task=multi_label. {_CURE}",
        )
    if isinstance(value, list):
        value = value[0] if value else None
    if label := label_text(value):
        return label
    if is_empty(value):
        raise EmptyCell(f"column '{column}' is empty.", where=row.where, cure=_CURE)
    raise DataError(
        f"column '{column}' contains {_kind(value)}, expected a label.", where=row.where, cure=_CURE
    )


def label_text(value: object) -> str:
    """A value as the name of a class; empty if it cannot be one. Some tables write a missing value as NaN.

    A whole number is the same class however it is stored: a DataFrame turns 3 into 3.0 where a cell is missing.

    >>> label_text(" pos "), label_text(True), label_text(3), label_text(float("nan")), label_text([1])
    ('pos', 'true', '3', '', '')
    >>> label_text(3.0), label_text(3.5), label_text(float("inf")), len(label_text(10**400))
    ('3', '3.5', 'inf', 401)
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return "" if isinstance(value, float) and math.isnan(value) else str(value)
    return ""


_CURE = (
    "Fix the row, skip such rows with data.bad_rows=skip, or choose other columns with"
    " data.text=NAME and data.label=NAME."
)


def _kind(value: object) -> str:
    names = {
        type(None): "nothing",
        list: "a list",
        dict: "an object",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
    }
    return names.get(type(value), type(value).__name__)

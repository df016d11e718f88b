"""What a source of data is: named columns, and rows that know where they stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from seqlab.sources.bad_rows import BadRows

STEPS = "steps"
"""The column that holds the numeric steps of a sequence, in sources that have them."""


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
        return f"{self.file}, line {self.line}"


class Source(ABC):
    """Rows that are read again from the start on every pass, one at a time, so that size does not matter."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    """The endings of files in this format, with their dot and in lower case: (".csv",)."""
    name: str
    columns: list[str]
    bad_rows: BadRows = BadRows()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """All rows in their order. A row that cannot be used raises DataError, or is skipped and counted."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hash that changes when the content does."""


class PairSource(Source):
    """Two sides of one thing by the very format, such as a message and its translation: the first column is
    to be read, the second to be written.
    """


class TextSource(Source):
    """Plain text: rows are its lines, and it can be read as one long string as well."""

    columns: list[str]

    @abstractmethod
    def chunks(self, size: int) -> Iterator[str]:
        """The whole text with its line ends, in pieces of at most `size` characters, cut at line ends where
        there are any.
        """

"""Text columns whose cells are lists of words or phrases: the words of a sentence, the ingredients of a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeGuard

from seqlab.sources.base import Row, Source, TextSource

LOOKED_AT = 20


def join_words(source: Source, columns: Sequence[str]) -> Source:
    """The source with texts instead of lists in the given columns, if one of them has lists."""
    if isinstance(source, TextSource) or not columns:
        return source
    first = islice(source.rows(), LOOKED_AT)
    has_lists = any(is_list_of_words(row.values.get(name)) for row in first for name in columns)
    return WordTexts(source, columns) if has_lists else source


class WordTexts(Source):
    """The rows of a file with the words of some columns joined by spaces."""

    def __init__(self, whole: Source, columns: Sequence[str]) -> None:
        self.name, self.columns, self.bad_rows = whole.name, whole.columns, whole.bad_rows
        self._whole, self._joined = whole, list(columns)

    def rows(self) -> Iterator[Row]:
        return (with_joined_words(row, self._joined) for row in self._whole.rows())

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:words:{','.join(self._joined)}"


def with_joined_words(row: Row, columns: Sequence[str]) -> Row:
    """
    >>> with_joined_words(Row({"parts": ["salt", "olive oil"], "n": 2}, "a.json", 1), ["parts", "n"]).values
    {'parts': 'salt olive oil', 'n': 2}
    """
    joined = {name: " ".join(cell) for name in columns if is_list_of_words(cell := row.values.get(name))}
    return Row({**row.values, **joined}, row.file, row.line) if joined else row


def is_list_of_words(cell: object) -> TypeGuard[list[str]]:
    return isinstance(cell, list) and bool(cell) and all(isinstance(word, str) for word in cell)

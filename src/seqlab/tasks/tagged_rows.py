"""The rows that a tagger can use: words, and a tag for each."""

from __future__ import annotations

from seqlab.sources.base import Row, Source
from seqlab.sources.word_lists import pairs_of
from seqlab.tasks.checked_rows import CheckedRows


class TaggedRows(CheckedRows):
    """A source without the rows that have no words, or not one tag for each."""

    def __init__(self, whole: Source, *, words: str, tags: str) -> None:
        super().__init__(whole, [words, tags])
        self._words, self._tags = words, tags

    def check(self, row: Row) -> None:
        pairs_of(row, words=self._words, tags=self._tags)

    def pairs(self, row: Row) -> tuple[list[str], list[str]]:
        """The words of a row and their tags."""
        return pairs_of(row, words=self._words, tags=self._tags)

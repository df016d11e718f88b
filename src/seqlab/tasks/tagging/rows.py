"""The rows that a tagger can use: words (or steps of numbers), and a tag for each."""

from __future__ import annotations

from typing import Any

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.sources.word_lists import pairs_of, tags_of_steps
from seqlab.tasks.labeled.rows import CheckedRows


class TaggedRows(CheckedRows):
    """A source without rows that have nothing to tag, or not exactly one tag per word."""

    def __init__(self, whole: Source, *, words: str, tags: str) -> None:
        super().__init__(whole, [words, tags])
        self._words, self._tags = words, tags

    @classmethod
    def of(cls, recipe: Recipe, source: Source) -> TaggedRows:
        return cls(
            source, words=STEPS if STEPS in source.columns else recipe.data.text, tags=recipe.data.label
        )

    def check(self, row: Row) -> None:
        self.pairs(row)

    def pairs(self, row: Row) -> tuple[list[Any], list[str]]:
        """Return the words or steps of a row, and their tags."""
        if self._words == STEPS:
            return row.values[STEPS], tags_of_steps(row, steps=STEPS, tags=self._tags)
        return pairs_of(row, words=self._words, tags=self._tags)

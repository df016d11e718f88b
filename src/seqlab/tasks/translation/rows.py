"""The rows with text on both sides."""

from __future__ import annotations

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, require_text
from seqlab.tasks.labeled.rows import CheckedRows


class PairRows(CheckedRows):
    """A source without rows that have an empty side."""

    def __init__(self, whole: Source, columns: list[str]) -> None:
        super().__init__(whole, columns)
        self._sides = columns

    @classmethod
    def of(cls, recipe: Recipe, source: Source) -> PairRows:
        data = recipe.data
        return cls(source, [data.source, data.target, *([data.language] if data.language else [])])

    def check(self, row: Row) -> None:
        for column in self._sides:
            require_text(row, column)

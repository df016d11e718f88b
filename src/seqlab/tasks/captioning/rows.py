"""The rows that have an image and a caption."""

from __future__ import annotations

import hashlib

from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, text_of
from seqlab.tasks.captioning.image_cells import ImageCells
from seqlab.tasks.labeled.checked_rows import CheckedRows


class CaptionRows(CheckedRows):
    """A source without the rows that have no caption, or whose image cannot be read."""

    def __init__(self, whole: Source, recipe: Recipe, cells: ImageCells) -> None:
        super().__init__(whole, [recipe.data.source, recipe.data.target])
        self._cells, self._caption = cells, recipe.data.target

    def check(self, row: Row) -> None:
        if not text_of(row, self._caption).strip():
            raise DataError(
                f"column '{self._caption}' has no text.",
                where=row.where,
                cure="Fix the row, or skip such rows with data.bad_rows=skip.",
            )
        self._cells.check(row)

    def fingerprint(self) -> str:
        """Of the table, and of every image file that it names."""
        digest = hashlib.blake2b(digest_size=16)
        for row in self.first_rows().values():
            digest.update(self._cells.identity(row).encode() + b"\0")
        return f"{super().fingerprint()}:{digest.hexdigest()}"

    def first_rows(self) -> dict[str, Row]:
        """The first row of every image, by the key of the image; an image is numbered by its place here."""
        first_rows: dict[str, Row] = {}
        for row in self.rows():
            first_rows.setdefault(self._cells.key(row), row)
        return first_rows

"""The rows with an image and a caption; an image is a file name, or the pixels themselves."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, require_text
from seqlab.sources.formats.image_files import ImageFiles
from seqlab.sources.formats.pixels import CURE, Pixels, check_image, decode_image, pixels_of
from seqlab.tasks.labeled.rows import CheckedRows


class ImageCells:
    """Finds, checks and reads the images of one column."""

    def __init__(self, recipe: Recipe) -> None:
        self.column = recipe.data.source
        self._files = ImageFiles(recipe.data.images)
        self._fallback = Path(recipe.data.train).parent

    def key(self, row: Row) -> str:
        """Return a key that is the same for rows with the same image."""
        value = row.values.get(self.column)
        if isinstance(value, str):
            return f"{Path(row.file).parent}:{value.strip()}"
        return hashlib.blake2b(pixels_of(value, where=row.where).tobytes(), digest_size=16).hexdigest()

    def name(self, row: Row) -> str:
        """Return the name of the image for a report."""
        value = row.values.get(self.column)
        return value.strip() if isinstance(value, str) else f"image {row.line}"

    def check(self, row: Row) -> None:
        """Raise DataError for a row without an image that can be read."""
        value = row.values.get(self.column)
        if isinstance(value, str) and not value.strip():
            raise DataError(
                f"column '{self.column}' is empty, expected an image file.", where=row.where, cure=CURE
            )
        if isinstance(value, str):
            check_image(
                self._read(value, Path(row.file).parent, row.where),
                where=f"{row.where}, {value.strip()[:200]}",
            )
        else:
            pixels_of(value, where=row.where)

    def identity(self, row: Row) -> str:
        """Return a string that changes with the image file; pixels in a row are part of the source's
        fingerprint.
        """
        value = row.values.get(self.column)
        return (
            self._files.identity(value.strip(), table_folder=Path(row.file).parent, where=row.where)
            if isinstance(value, str)
            else ""
        )

    def pixels(self, row: Row) -> Pixels:
        return self._pixels(row.values.get(self.column), Path(row.file).parent, row.where)

    def read_input(self, value: Any, number: int) -> Pixels:
        """Read the image for a prediction: a file here or in the folder of the training images, or pixels."""
        where = f"input {number}"
        if isinstance(value, str | Path) and Path(value).is_file():
            return decode_image(
                ImageFiles().read(str(value), table_folder=Path(), where=where), where=f"{where}, {value}"
            )
        return self._pixels(str(value) if isinstance(value, Path) else value, self._fallback, where)

    def _pixels(self, value: Any, table_folder: Path, where: str) -> Pixels:
        if not isinstance(value, str):
            return pixels_of(value, where=where)
        return decode_image(self._read(value, table_folder, where), where=f"{where}, {value.strip()[:200]}")

    def _read(self, value: str, table_folder: Path, where: str) -> bytes:
        return self._files.read(value.strip(), table_folder=table_folder, where=where)


class CaptionRows(CheckedRows):
    """A source without the rows that have no caption, or whose image cannot be read.

    An image that passed its check is not opened again for its next caption.
    """

    def __init__(self, whole: Source, recipe: Recipe, cells: ImageCells) -> None:
        super().__init__(whole, [recipe.data.source, recipe.data.target])
        self._cells, self._caption = cells, recipe.data.target
        self._checked: set[str] = set()

    def check(self, row: Row) -> None:
        require_text(row, self._caption)
        if (key := self._cells.key(row)) not in self._checked:
            self._cells.check(row)
            self._checked.add(key)

    def fingerprint(self) -> str:
        """Return the fingerprint of the table and of every image file in it."""
        digest = hashlib.blake2b(digest_size=16)
        for row in self.first_rows().values():
            digest.update(self._cells.identity(row).encode() + b"\0")
        return f"{super().fingerprint()}:{digest.hexdigest()}"

    def first_rows(self) -> dict[str, Row]:
        """Return the first row of every image by the key of the image; images are numbered in this order."""
        first_rows: dict[str, Row] = {}
        for row in self.rows():
            first_rows.setdefault(self._cells.key(row), row)
        return first_rows

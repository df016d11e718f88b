"""Describe images: an image encoder, and a decoder that attends to regions while it generates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, require_columns
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.seq2seq.spec import PairSpec, image_columns
from seqlab.tasks.spec import OF_LABELED_BATCHES, OF_SERIES, task_specs

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


class ImageNames(Source):
    """The rows of a table with a number in place of each file name: dog_1.jpg and dog_2.jpg are different
    images, however similar the names are.
    """

    def __init__(self, whole: Source, column: str) -> None:
        self.name, self.bad_rows, self.columns = whole.name, whole.bad_rows, whole.columns
        self._whole, self._column = whole, column

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            cell = row.values.get(self._column)
            yield (
                Row({**row.values, self._column: [_number(cell)]}, row.file, row.line)
                if isinstance(cell, str)
                else row
            )

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:names:{self._column}"


def _number(name: str) -> int:
    """48 bits, which a float holds exactly."""
    return int.from_bytes(
        hashlib.blake2b(name.strip().encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big"
    )


@task_specs.register("captioning")
class CaptioningSpec(PairSpec):
    """Generates a caption for every image."""

    name = "captioning"
    pipeline_tag = "image-to-text"
    guess_order = 10
    ignored = (
        *OF_LABELED_BATCHES,
        *OF_SERIES,
        "bag",
        "tokens.shared",
        "data.language",
        "data.label_separator",
        "data.max_length",
    )

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is None and data.source in image_columns(source)

    def why(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> list[str]:
        return [f"column '{data.source}' names image files: captioning; set task=NAME to change the task"]

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        if not data.source and len(columns := image_columns(source)) == 1:
            data = data.model_copy(update={"source": columns[0]})
        return super().find_columns(source, data)

    def network_contradictions(self, recipe: Recipe) -> list[Contradiction]:
        from seqlab.tasks.captioning.defaults import require_image_settings

        return contradiction_in(lambda: require_image_settings(recipe.model))

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        from seqlab.tasks.captioning.defaults import with_defaults
        from seqlab.tasks.captioning.rows import CaptionRows, ImageCells

        cells = ImageCells(recipe)
        return with_defaults(recipe, CaptionRows(train, recipe, cells), cells)

    def read_inputs(self, source: Source, data: DataSettings, folder: Path) -> Iterator[Any]:
        require_columns(source, [data.source])
        return (find_image(row.values[data.source], folder) for row in source.rows())

    def usual_warning(self, data: DataSettings) -> str:
        return "an earlier one"

    def survey_source(self, source: Source, data: DataSettings) -> Source:
        return ImageNames(source, data.source)

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        return [f"seqlab predict {quote(str(folder))} image.png --beam 5"]

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.captioning.parts import PARTS

        return PARTS


def find_image(cell: Any, folder: Path) -> Any:
    """Return pixels unchanged, a file next to the table by its full path, and any other file as named in
    the table.
    """
    return str(folder / cell.strip()) if isinstance(cell, str) and (folder / cell.strip()).is_file() else cell

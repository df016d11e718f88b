"""Describe images: an image encoder, and a decoder that attends to regions while it generates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, require_columns
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.captioning.defaults import with_defaults
from seqlab.tasks.captioning.image_cells import ImageCells
from seqlab.tasks.captioning.image_names import ImageNames
from seqlab.tasks.captioning.rows import CaptionRows
from seqlab.tasks.seq2seq.spec import PairSpec, image_columns
from seqlab.tasks.spec import task_specs

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


@task_specs.register("captioning")
class CaptioningSpec(PairSpec):
    """A caption for every image."""

    name = "captioning"
    guess_order = 10

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is None and data.source in image_columns(source)

    def why(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> list[str]:
        return [f"column '{data.source}' names image files: captioning; another task: task=NAME"]

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        if not data.source and len(columns := image_columns(source)) == 1:
            data = data.model_copy(update={"source": columns[0]})
        return super().find_columns(source, data)

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
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
    """Pixels as they are; a file beside the table by its whole path, another one as the table names it."""
    return str(folder / cell.strip()) if isinstance(cell, str) and (folder / cell.strip()).is_file() else cell

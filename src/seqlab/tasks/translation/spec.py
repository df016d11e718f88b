"""Translate one sequence into another: languages, spelling to phonemes, dates to numbers; summaries with
imported models.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, require_columns, text_of
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.seq2seq.spec import PairSpec
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_LABELED_BATCHES, OF_SERIES, task_specs
from seqlab.tasks.translation.defaults import with_defaults
from seqlab.tasks.translation.rows import PairRows

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


@task_specs.register("translation")
class TranslationSpec(PairSpec):
    """Generates a target sequence for every source sequence."""

    name = "translation"
    pipeline_tag = "translation"
    guess_order = 20
    ignored = (*OF_IMAGE_FILES, *OF_SERIES, *OF_LABELED_BATCHES, "bag", "data.label_separator")
    hint = "; for train.en next to train.de: data.train=train data.source=en data.target=de"

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is None or roles.answer == "pair"

    def why(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> list[str]:
        if roles is not None:
            return super().why(source, data, roles)
        return (
            []
            if data.source or data.target
            else ["pairs by their format: translation; set task=NAME to change the task"]
        )

    def check_rows(self, source: Source, data: DataSettings) -> PairRows:
        return PairRows(source, self.required_columns(source, data))

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        return with_defaults(recipe, PairRows.of(recipe, train))

    def read_inputs(self, source: Source, data: DataSettings, folder: Path) -> Iterator[Any]:
        if not data.language or data.language not in source.columns:
            return super().read_inputs(source, data, folder)
        require_columns(source, [data.source])
        return (
            f"{text_of(row, data.language)}: {text_of(row, data.source)}" for row in source.rows()
        )  # as one would type it

    def usual_warning(self, data: DataSettings) -> str:
        return "an earlier one" if data.language else ""

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.translation.parts import PARTS

        return PARTS

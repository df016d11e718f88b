"""The base spec of tasks on plain text."""

from __future__ import annotations

from pathlib import Path, PurePath

from pydantic import Field

from seqlab.core.errors import DataError
from seqlab.core.settings import Settings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Source
from seqlab.sources.column_roles import find_roles
from seqlab.sources.file_format import CONVERSATIONS, format_of
from seqlab.sources.files.compression import plain_name
from seqlab.sources.formats.registry import formats_by_suffix
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_LABELED_BATCHES, OF_PAIRS, OF_SERIES, TaskSpec, find_spec


class WindowSettings(Settings):
    """The window of a model over a text."""

    window: int = Field(128, ge=2, description="Number of tokens that the model sees at once.")


class TextSpec(TaskSpec):
    """Text without labels: one long text, or a column of documents."""

    is_text_stream = True
    predicts_tokens = True
    ignored = (
        *OF_PAIRS,
        *OF_IMAGE_FILES,
        *OF_SERIES,
        *OF_LABELED_BATCHES,
        "bag",
        "data.label_separator",
        "data.max_length",
    )

    def format_of(self, path: Path, data: DataSettings) -> str:
        """Read a file with a text suffix as plain text, even if its lines look like tagged words or a
        table; of a conversation, only what was said.
        """
        by_name = formats_by_suffix().get(PurePath(plain_name(path)).suffix.lower())
        is_text = path.is_file() and by_name == "text" and data.text in ("", "text")
        return "text" if is_text and format_of(path) not in ("text", *CONVERSATIONS) else ""

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        roles = find_roles(source, settings=data)
        if not roles.text:
            raise DataError(
                "a language model needs text, but no column looks like text.",
                where=source.name,
                cure="Set it with data.text=NAME.",
            )
        reasons = roles.sentences(without_label=True)
        columns = {"text": roles.text, "label": "", "sequence": roles.sequence, "features": roles.features}
        return data.model_copy(update=columns), reasons

    def inherit_defaults(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Use the window of the source."""
        kinds = (self.settings, find_spec(source.task).settings)
        if not all(issubclass(settings, WindowSettings) for settings in kinds):
            return recipe
        return recipe.with_defaults(self.name, window=source.section(WindowSettings).window)

    def required_columns(self, source: Source, data: DataSettings) -> list[str]:
        return [data.text] if data.text and STEPS not in source.columns else []

    def usual_warning(self, data: DataSettings) -> str:
        return "empty text"

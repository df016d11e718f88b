"""Predict a tag for every word of a sentence (parts of speech, named entities, chunks), or for every step
of a numeric sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source, TextSource, require_columns
from seqlab.sources.file_format import format_of
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.frames import Frames, steps_of
from seqlab.sources.views.tagged_series import TaggedSeries
from seqlab.sources.views.word_rows import WordRows
from seqlab.sources.word_lists import tags_of, words_of
from seqlab.tasks.labeled.rows import names_or_nothing
from seqlab.tasks.labeled.spec import LabeledSpec
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_PAIRS, OF_SERIES, task_specs
from seqlab.tasks.tagging.defaults import reject_crf_conflicts, with_defaults
from seqlab.tasks.tagging.rows import TaggedRows
from seqlab.tasks.tagging.settings import TaggingSettings

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts

OPEN_FORMATS = ("tsv", "text")
"""File formats that may also contain tagged words."""
CHARACTER_SETTINGS = (
    "characters",
    "character_size",
    "character_embedding",
    "character_widths",
    "max_word_length",
)


@task_specs.register("tagging")
class TaggingSpec(LabeledSpec):
    """Predicts a tag for every word or step."""

    name = "tagging"
    pipeline_tag = "token-classification"
    settings = TaggingSettings
    guess_order = 30
    answer = "tags"
    needs = "a tag for every word"
    unit = "words"
    has_class_labels = True
    supports_metrics = True
    supports_distillation = True
    ignored = (*OF_PAIRS, *OF_IMAGE_FILES, *OF_SERIES, "bag", "data.label_separator")

    def format_of(self, path: Path, data: DataSettings) -> str:
        return "tagged" if path.is_file() and format_of(path) in OPEN_FORMATS else ""

    def as_examples(self, source: Source, data: DataSettings) -> Source:
        if data.sequence and data.text:
            return WordRows(source, sentence=data.sequence, words=data.text, tags=data.label)
        if data.sequence:
            return TaggedSeries(source, sequence=data.sequence, tags=data.label, features=data.features)
        if data.features:
            return Frames(source, column=data.features[0], tags=data.label)
        return super().as_examples(source, data)

    def check_rows(self, source: Source, data: DataSettings) -> TaggedRows:
        return TaggedRows(source, words=STEPS if STEPS in source.columns else data.text, tags=data.label)

    def class_names(self, data: DataSettings) -> Callable[[Row], list[str]]:
        return names_or_nothing(lambda row: tags_of(row, data.label))

    def read_inputs(self, source: Source, data: DataSettings, folder: Path) -> Iterator[Any]:
        if data.features and not data.sequence:
            return (steps_of(row, data.features[0]) for row in source.rows())
        if data.sequence and data.text and not isinstance(source, TextSource):
            source = WordRows(source, sentence=data.sequence, words=data.text)
        elif data.sequence or isinstance(source, TextSource):
            return super().read_inputs(source, data, folder)
        require_columns(source, [data.text])
        return (words_of(row, data.text) for row in source.rows())

    def contradictions(self, recipe: Recipe) -> list[Contradiction]:
        return super().contradictions(recipe) + contradiction_in(lambda: reject_crf_conflicts(recipe))

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        return with_defaults(recipe, reads_words=STEPS not in train.columns)

    def inherit_settings(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Encode words as in the run whose tokens are used."""
        if source.task != self.name:
            return recipe
        tagging = source.section(TaggingSettings)
        return recipe.changed(self.name, **{name: getattr(tagging, name) for name in CHARACTER_SETTINGS})

    def extra_embedding_size(self, recipe: Recipe, width: int) -> int:
        tagging = recipe.section(TaggingSettings)
        return (tagging.character_size or width) if tagging.characters != "none" else 0

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.tagging.parts import PARTS

        return PARTS

"""The base specs of tasks with a label column: an answer for every step, or one for a whole sequence."""

from __future__ import annotations

from typing import ClassVar

from seqlab.core.errors import DataError
from seqlab.models.settings.bag import NGramBagSettings
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.images import VisionTransformerSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.sources.column_roles import Answer, ColumnRoles, find_roles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.labeled.rows import LabeledRows
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_PAIRS, OF_SERIES, TaskSpec, find_spec
from seqlab.tasks.text.defaults import (
    Texts,
    reject_bag_settings,
    with_bag_defaults,
    with_default_network,
    with_default_tokens,
)

WORD_NETWORK: SequenceSettings = ConvolutionalSettings(layers=2, hidden_size=64, dropout=0.3)
STEP_NETWORK: SequenceSettings = RecurrentSettings(bidirectional=True, hidden_size=128, pooling="max")
"""The default networks for words, and for characters or numbers."""


class LabeledSpec(TaskSpec):
    """A task that learns the values of a label column."""

    answer: Answer
    """What the label column holds."""
    needs: str
    """What the task needs, for the error if it is missing."""

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is not None and roles.answer == self.answer

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        roles = find_roles(source, settings=data)
        if not roles.label:
            raise DataError(
                f"{self.name} needs {self.needs}, but no column looks like one.",
                where=source.name,
                cure="Set it with data.label=NAME, or use task=language_model.",
            )
        reasons = roles.sentences(without_label=roles.answer != self.answer)
        columns = {
            "text": roles.text,
            "label": roles.label,
            "sequence": roles.sequence,
            "features": roles.features,
        }
        return data.model_copy(update=columns), reasons


class WholeSequenceSpec(LabeledSpec):
    """One answer for every sequence: text, several text columns, a series of numbers, or an image read row by
    row.
    """

    joins_text_columns = True
    answers_per_sequence = True
    ignored: ClassVar[tuple[str, ...]] = (*OF_PAIRS, *OF_IMAGE_FILES, *OF_SERIES, "data.label_separator")

    def read_answer(self, row: Row, data: DataSettings) -> object:
        """Return the answer of a row; raises DataError if it has none."""
        raise NotImplementedError

    def check_rows(self, source: Source, data: DataSettings) -> LabeledRows:
        return LabeledRows(
            source, text=data.text, label=data.label, read=lambda row: self.read_answer(row, data)
        )

    def network_contradictions(self, recipe: Recipe) -> list[Contradiction]:
        has_bag = recipe.bag.n_grams or isinstance(recipe.model, NGramBagSettings)
        idle = [] if has_bag else contradiction_in(lambda: reject_bag_settings(recipe))
        return super().network_contradictions(recipe) + idle

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        is_text = STEPS not in train.columns
        recipe, reasons = (
            with_default_tokens(recipe, train) if is_text and not recipe.tokens.kind else (recipe, [])
        )
        if "model" not in recipe.model_fields_set:
            recipe, why = self.with_network(
                recipe, train, by_words=is_text and recipe.tokens.kind != "characters"
            )
            reasons.append(why)
        if recipe.bag.n_grams or isinstance(recipe.model, NGramBagSettings):
            recipe = with_bag_defaults(recipe, Texts.of(recipe, train))
        else:
            reject_bag_settings(recipe)
        if isinstance(
            recipe.model, VisionTransformerSettings
        ):  # chosen on validation data: docs/concepts/transformer/vision_transformer.md
            recipe = recipe.with_defaults("model", hidden_size=64, dropout=0.2).with_defaults(
                "training", weight_decay=0.5
            )
            if not {"steps", "epochs", "minutes"} & recipe.training.model_fields_set:
                recipe = recipe.changed("training", epochs=60, minutes=5)
        recipe = recipe.with_defaults(
            "training", learning_rate=3e-3
        )  # within a few minutes, a small model learns most from many large steps
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=32)
        return recipe, reasons

    def with_network(self, recipe: Recipe, train: Source, *, by_words: bool) -> tuple[Recipe, str]:
        """Choose the network of a recipe that sets none, with the reason. by_words: steps are words or
        subwords.
        """
        network = WORD_NETWORK if by_words else STEP_NETWORK
        return recipe.model_copy(
            update={"model": network}
        ), f"a {network.kind} model; use --model NAME to change it"


class NamedAnswerSpec(WholeSequenceSpec):
    """Tasks whose answers are named labels, with one output each."""

    has_class_labels = True
    supports_metrics = True

    def with_network(self, recipe: Recipe, train: Source, *, by_words: bool) -> tuple[Recipe, str]:
        return (
            with_default_network(recipe, Texts.of(recipe, train))
            if by_words
            else super().with_network(recipe, train, by_words=by_words)
        )


def labeled_rows(source: Source, recipe: Recipe) -> LabeledRows:
    """Return the usable rows of a task with one answer per row."""
    spec = find_spec(recipe.task)
    assert isinstance(spec, WholeSequenceSpec)
    return spec.check_rows(source, recipe.data)

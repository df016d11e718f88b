"""Predict masked tokens from the context on both sides, as BERT does: pretraining on unlabeled text, for a
model that is fine-tuned later.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from seqlab.batches.settings import MaskingSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import task_specs
from seqlab.tasks.text.spec import TextSpec, WindowSettings

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


PIECES = 4_000
"""Default size of the WordPiece vocabulary, which keeps most words of a small text whole."""


class MaskedLanguageModelSettings(MaskingSettings, WindowSettings):
    """The window of a masked language model, and which tokens are masked."""


@task_specs.register("masked_language_model")
class MaskedLanguageModelSpec(TextSpec):
    """Predicts the masked tokens of a text."""

    name = "masked_language_model"
    pipeline_tag = "fill-mask"
    settings = MaskedLanguageModelSettings
    title = "a masked language model"
    needs_both_sides = True
    supports_distillation = True

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return False  # plain text is guessed to be for a language model

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        reasons = []
        if not recipe.tokens.kind:
            size = recipe.tokens.size or PIECES
            recipe = recipe.changed("tokens", kind="wordpiece", size=size)
            reasons.append(f"tokens are {size:,} subwords (wordpiece); set tokens.kind=NAME to change it")
        if "model" not in recipe.model_fields_set:
            recipe = recipe.model_copy(update={"model": TransformerSettings(layers=4)})
            reasons.append("a transformer model; use --model NAME to change it")
        if recipe.model.kind == "transformer":
            # chosen on validation data: docs/tutorials/masked_language_model.md
            recipe = recipe.with_defaults("model", positions="rotary", embedding_norm=True)
        if recipe.model.kind == "recurrent" and not recipe.model.bidirectional:
            reasons.append(
                "the model reads from left to right and sees only the tokens before a mask; set"
                " model.bidirectional=true to use both sides"
            )
        if getattr(recipe.model, "causal", False):
            reasons.append(
                "the model sees only the tokens before a mask; set model.causal=false to use both sides"
            )
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=16)
        return recipe, reasons

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        return [f'seqlab predict {quote(str(folder))} "The [MASK] of the" --top 5']

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.masked_language_model.parts import PARTS

        return PARTS

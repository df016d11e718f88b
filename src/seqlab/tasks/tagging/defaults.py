"""The tokens, the network and the batches of a tagger where the recipe leaves them open."""

from __future__ import annotations

from operator import attrgetter

from seqlab.core.errors import RecipeError
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.tagging.settings import TaggingSettings

WORD_KINDS = ("words", "whitespace")
LONGEST_PIECE = 512
"""Sentences with more steps are learned in pieces by default: one endless document must not fill the
memory.
"""
WORD_MODEL = RecurrentSettings(
    bidirectional=True, hidden_size=192, embedding_size=256, dropout=0.5, locked_dropout=True
)
STEP_MODEL = RecurrentSettings(bidirectional=True, hidden_size=64, dropout=0.2)
"""What is trained where no model is named."""


def with_defaults(recipe: Recipe, *, reads_words: bool) -> tuple[Recipe, list[str]]:
    """reads_words: steps are words, not vectors of numbers."""
    _refuse_mixed_aims(recipe)
    recipe, reasons = _with_words(recipe) if reads_words else (recipe, [])
    if "model" not in recipe.model_fields_set:
        recipe = recipe.model_copy(update={"model": WORD_MODEL if reads_words else STEP_MODEL})
        reasons.append("a bidirectional recurrent model; another: --model NAME")
    recipe = recipe.with_defaults("training", learning_rate=3e-3).with_defaults(
        "data", max_length=LONGEST_PIECE
    )
    if not recipe.training.batch_size:
        recipe = recipe.changed("training", batch_size=32)
    return recipe, reasons


def _with_words(recipe: Recipe) -> tuple[Recipe, list[str]]:
    """What a token is, and whether its characters are seen."""
    reasons = []
    if not recipe.tokens.kind:
        recipe = recipe.changed("tokens", kind="whitespace")
        reasons.append("a token is a word; pieces of words: tokens.kind=wordpiece")
    is_new = not recipe.start.run and not recipe.distillation.run
    if recipe.tokens.kind not in WORD_KINDS or not is_new:
        return recipe, reasons
    if "characters" not in recipe.section(TaggingSettings).model_fields_set:
        recipe = recipe.changed("tagging", characters="convolutional")
        reasons.append(
            "words show their characters too, so that endings and capitals tell; without:"
            " tagging.characters=none"
        )
    if (
        recipe.section(TaggingSettings).characters != "none"
        and "lowercase" not in recipe.tokens.model_fields_set
    ):
        recipe = recipe.changed("tokens", lowercase=True)
        reasons.append(
            "words that differ in capitals only share a vector, beside their own characters; otherwise:"
            " tokens.lowercase=false"
        )
    if (
        recipe.section(TaggingSettings).characters == "none"
        and "min_count" not in recipe.tokens.model_fields_set
    ):
        recipe = recipe.changed("tokens", min_count=2)
        reasons.append(
            "words seen once count as unknown, so that the model learns to tag unknown words; other counts:"
            " tokens.min_count=NUMBER"
        )
    return recipe, reasons


def _refuse_mixed_aims(recipe: Recipe) -> None:
    """A chain has one loss for a whole sentence, which knows no smoothed targets and no teacher."""
    if not recipe.section(TaggingSettings).crf:
        return
    for name in ("training.label_smoothing", "distillation.run"):
        if attrgetter(name)(recipe):
            raise RecipeError(
                f"{name} is about single tags, and a CRF decides on all tags of a sentence together.",
                where="tagging.crf",
                cure=f"Leave out {name}, or the CRF: tagging.crf=false",
            )

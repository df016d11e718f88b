"""Default tokens, network and batches of a tagger."""

from __future__ import annotations

from operator import attrgetter

from seqlab.core.errors import RecipeError
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.tagging.settings import TaggingSettings

WORD_KINDS = ("words", "whitespace")
LONGEST_PIECE = 512
"""Longer sentences are split for training by default, so that one huge document does not exhaust the
memory.
"""
WORD_MODEL = RecurrentSettings(
    bidirectional=True, hidden_size=192, embedding_size=256, dropout=0.5, locked_dropout=True
)
STEP_MODEL = RecurrentSettings(bidirectional=True, hidden_size=64, dropout=0.2)
"""The default models."""


def with_defaults(recipe: Recipe, *, reads_words: bool) -> tuple[Recipe, list[str]]:
    """Fill in defaults with their reasons. reads_words: whether steps are words rather than vectors of
    numbers.
    """
    reject_crf_conflicts(recipe)
    recipe, reasons = _with_words(recipe) if reads_words else (recipe, [])
    if "model" not in recipe.model_fields_set:
        recipe = recipe.model_copy(update={"model": WORD_MODEL if reads_words else STEP_MODEL})
        reasons.append("a bidirectional recurrent model; use --model NAME to change it")
    recipe = recipe.with_defaults("training", learning_rate=3e-3).with_defaults(
        "data", max_length=LONGEST_PIECE
    )
    if not recipe.training.batch_size:
        recipe = recipe.changed("training", batch_size=32)
    return recipe, reasons


def _with_words(recipe: Recipe) -> tuple[Recipe, list[str]]:
    """Choose the tokens, and whether the model reads their characters."""
    reasons = []
    if not recipe.tokens.kind:
        recipe = recipe.changed("tokens", kind="whitespace")
        reasons.append("a token is a word; set tokens.kind=wordpiece for subwords")
    is_new = not recipe.start.run and not recipe.distillation.run
    if recipe.tokens.kind not in WORD_KINDS or not is_new:
        return recipe, reasons
    if "characters" not in recipe.section(TaggingSettings).model_fields_set:
        recipe = recipe.changed("tagging", characters="convolutional")
        reasons.append(
            "the model also reads the characters of words, such as suffixes and capitals; set"
            " tagging.characters=none to disable"
        )
    if (
        recipe.section(TaggingSettings).characters != "none"
        and "lowercase" not in recipe.tokens.model_fields_set
    ):
        recipe = recipe.changed("tokens", lowercase=True)
        reasons.append(
            "word vectors ignore case, which the characters keep; set tokens.lowercase=false to change it"
        )
    if (
        recipe.section(TaggingSettings).characters == "none"
        and "min_count" not in recipe.tokens.model_fields_set
    ):
        recipe = recipe.changed("tokens", min_count=2)
        reasons.append(
            "words seen once count as out of vocabulary, so that the model learns to tag such words; set"
            " tokens.min_count=NUMBER to change it"
        )
    return recipe, reasons


def reject_crf_conflicts(recipe: Recipe) -> None:
    """Reject label smoothing and distillation with a CRF, whose loss is over whole sentences."""
    if not recipe.section(TaggingSettings).crf:
        return
    for name in ("training.label_smoothing", "distillation.run"):
        if attrgetter(name)(recipe):
            raise RecipeError(
                f"{name} applies to individual tags, but a CRF predicts all tags of a sentence jointly.",
                where="tagging.crf",
                cure=f"Remove {name}, or disable the CRF: tagging.crf=false",
            )

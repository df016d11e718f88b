"""Default tokens, network and batches of a language model."""

from __future__ import annotations

from seqlab.core.errors import RecipeError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.text.documents import BY_LINE, has_documents, has_more_than, is_cut_into_words
from seqlab.tokens.vocabulary import UNK

LARGE_TEXT = 20_000_000
"""Minimum text size in characters for subword tokens; a smaller text is read character by character."""
SMALL_TEXT = 500_000
"""Maximum text size in characters for which a network overfits quickly and more dropout helps:
docs/tutorials/language_model.md.
"""
LARGE_VOCABULARY = 10_000
"""Vocabulary size above which training uses a sampled softmax."""


def with_defaults(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Fill in the defaults of the recipe, with the reasons."""
    reasons = []
    if not recipe.tokens.kind:
        kind, why = choose_tokens(recipe, train)
        recipe = recipe.changed("tokens", kind=kind)
        reasons.append(f"tokens are {kind} ({why}); set tokens.kind=NAME to change it")
    if not has_documents(train, recipe):
        recipe = recipe.changed("language_model", reset_at_documents=False)
    elif is_cut_into_words(train):
        # the next line continues the text
        recipe = recipe.with_defaults("language_model", reset_at_documents=False)
    if recipe.model.kind == "recurrent":
        recipe = with_recurrent_defaults(recipe, is_small=not has_more_than(train, recipe, SMALL_TEXT))
    check_bptt(recipe)
    if not recipe.training.batch_size:
        recipe = recipe.changed("training", batch_size=16)
    check_softmax(recipe)
    if (
        recipe.section(LanguageModelSettings).softmax == "auto"
        and recipe.tokens.kind in BY_LINE
        and not needs_all_logits(recipe)
    ):
        reasons.append(
            f"with more than {LARGE_VOCABULARY:,} words, training uses a sampled softmax (scores use the full one); set"
            " language_model.softmax=full to change it"
        )
    return recipe, reasons


def choose_tokens(recipe: Recipe, train: Source) -> tuple[str, str]:
    """Choose the default kind of tokens for a text, with the reason."""
    if is_cut_into_words(train):
        return "whitespace", f"the text has {UNK} for rare words"
    if has_more_than(train, recipe, LARGE_TEXT):
        return "bpe", f"more than {LARGE_TEXT // 1_000_000} million characters"
    return "characters", "a small text"


def with_recurrent_defaults(recipe: Recipe, *, is_small: bool) -> Recipe:
    """Fill in sizes and rates as in the recipes `characters` and `words` (docs/recipes); dropout depends on
    the size of the text.
    """
    if recipe.tokens.kind in BY_LINE:  # embeddings as wide as the state, so that the output layer shares them
        recipe = recipe.with_defaults("model", hidden_size=400, dropout=0.4)
        recipe = recipe.with_defaults("training", learning_rate=3e-3, batch_size=32)
        return recipe.with_defaults("language_model", window=35)
    recipe = recipe.with_defaults(
        "model", hidden_size=384, embedding_size=128, dropout=0.3 if is_small else 0.1
    )
    return recipe.with_defaults("training", learning_rate=4e-3).with_defaults("language_model", window=64)


def check_bptt(recipe: Recipe) -> None:
    """Reject truncated BPTT for a network without a state."""
    if recipe.model.kind != "recurrent" and recipe.section(LanguageModelSettings).bptt_steps:
        raise RecipeError(
            f"truncated BPTT does not apply to a {recipe.model.kind} model, which carries no state.",
            where="language_model.bptt_steps",
            cure="Set it to 0, or use a recurrent model: --model lstm",
        )


def check_softmax(recipe: Recipe) -> None:
    """Reject a sampled softmax if the loss needs the probability of every token."""
    if recipe.section(LanguageModelSettings).softmax == "sampled" and needs_all_logits(recipe):
        raise RecipeError(
            "label smoothing and distillation need the probability of every token, which a sampled softmax does"
            " not compute.",
            where="language_model.softmax",
            cure="Set language_model.softmax=full, or remove training.label_smoothing and distillation.run.",
        )


def needs_all_logits(recipe: Recipe) -> bool:
    """Whether the loss needs the logit of every token at every step, not only of the target."""
    return bool(recipe.training.label_smoothing or recipe.distillation.run)

"""Default tokens, network and training budget for texts, from a sample of the data.

Chosen on validation data; docs/tutorials/classification.md has the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from seqlab.core.errors import RecipeError
from seqlab.models.settings.bag import BagSettings, NGramBagSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source

VOCABULARY_SIZE, MAX_WORDS = 30_000, 512
"""Default vocabulary size, and default length in words to which texts are truncated."""
SAMPLE = 500
"""Number of texts for choosing the kind of tokens."""
SHORT_TEXT = 40
"""Mean length in characters below which tokens are characters."""
MAX_CHARACTERS = 2048
"""Length to which texts of character tokens are truncated, so that one huge document does not exhaust the
memory.
"""
LONG_WORD = 30
"""Above this mean distance between spaces, in characters, a text has no words, such as a biological sequence or a
language without spaces.
"""
MAX_ROWS = 200_000
"""Maximum number of rows to count; more would not change a decision."""
ENOUGH_ROWS, LONG_TEXT = 5_000, 400
"""A network pays off on at least this many texts, with fewer characters than this on average."""
N_GRAMS_BESIDE_NETWORK = 2
"""Longest n-grams of a bag that is combined with the default network; a bag alone has longer ones."""
CHARACTERS_PER_PLACE = 25
"""A token has about five characters, and a corpus repeats about one n-gram for every five tokens."""
MIN_PLACES, MAX_PLACES = 1 << 12, 1 << 20
ENOUGH_EXAMPLES, MIN_EPOCHS, MAX_EPOCHS = 40_000, 2, 20
"""Number of examples after which a bag stops improving: few epochs on many texts, many epochs on few."""
MINUTES = 3
"""The budget of a bag for data of any size."""


@dataclass(frozen=True)
class Texts:
    """The number of texts, and their total number of characters."""

    rows: int
    characters: int

    @classmethod
    def of(cls, recipe: Recipe, train: Source) -> Texts:
        lengths = [len(str(row.values.get(recipe.data.text, ""))) for row in islice(train.rows(), MAX_ROWS)]
        return cls(len(lengths), sum(lengths))


def with_default_tokens(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Choose word tokens, or characters for short texts and those without spaces; long texts are truncated."""
    texts = [str(row.values.get(recipe.data.text, "")) for row in islice(train.rows(), SAMPLE)]
    mean = sum(map(len, texts)) / max(1, len(texts))
    per_word = mean / max(1.0, sum(len(text.split()) for text in texts) / max(1, len(texts)))
    kind = "words" if mean >= SHORT_TEXT and per_word < LONG_WORD else "characters"
    size = {"size": recipe.tokens.size or VOCABULARY_SIZE, "lowercase": True} if kind == "words" else {}
    recipe = recipe.changed("tokens", kind=kind, **size)
    reasons = [
        f"tokens are {kind} (texts of {mean:.0f} characters on average); set tokens.kind=NAME to change it"
    ]
    if "max_length" not in recipe.data.model_fields_set:
        max_length = MAX_WORDS if kind == "words" else MAX_CHARACTERS
        recipe = recipe.changed("data", max_length=max_length)
        length = (lambda text: len(text.split())) if kind == "words" else len
        if any(length(text) > max_length for text in texts):
            reasons.append(
                f"texts are truncated to {max_length:,} tokens; set data.max_length=0 to keep them whole"
            )
    return recipe, reasons


def with_default_network(recipe: Recipe, texts: Texts) -> tuple[Recipe, str]:
    """Choose a bidirectional network combined with a bag of word pairs for many short texts.

    For few or long texts, the bag alone is as good and ten times faster.
    """
    if texts.rows >= ENOUGH_ROWS and texts.characters < LONG_TEXT * texts.rows:
        network = RecurrentSettings(bidirectional=True, hidden_size=64, pooling="max", dropout=0.5)
        recipe = recipe.model_copy(update={"model": network}).with_defaults(
            "bag", n_grams=N_GRAMS_BESIDE_NETWORK
        )
        return (
            recipe,
            f"a recurrent network combined with a bag of {recipe.bag.n_grams}-grams; use --model NAME to change it",
        )
    why = "long" if texts.characters >= LONG_TEXT * texts.rows else "few"
    return recipe.model_copy(
        update={"model": NGramBagSettings()}
    ), f"a bag of n-grams ({why} texts); use --model bilstm for a network"


def with_bag_defaults(recipe: Recipe, texts: Texts) -> Recipe:
    """Fill in the size of the bag, and a training budget if the recipe has none."""
    if not recipe.bag.max_features:
        recipe = recipe.changed("bag", max_features=max_features_for(texts.characters))
    if {"steps", "epochs", "minutes"} & recipe.training.model_fields_set:
        return recipe
    epochs = min(MAX_EPOCHS, max(MIN_EPOCHS, round(ENOUGH_EXAMPLES / max(1, texts.rows))))
    return recipe.changed("training", epochs=epochs, minutes=MINUTES)


def reject_bag_settings(recipe: Recipe) -> None:
    """Reject bag settings, which have no effect on a network without a bag."""
    defaults = BagSettings()
    idle = [
        f"bag.{name}"
        for name in BagSettings.model_fields
        if getattr(recipe.bag, name) != getattr(defaults, name)
    ]
    if idle:
        raise RecipeError(
            f"no effect on a {recipe.model.kind} model without a bag of n-grams.",
            where=" and ".join(idle),
            cure="Add a bag with bag.n_grams=2, use --model bag, or remove the setting.",
        )


def max_features_for(characters: int) -> int:
    """Return the number of features of a bag, a power of two.

    >>> max_features_for(1_000), max_features_for(1_200_000), max_features_for(30_000_000)
    (4096, 65536, 1048576)
    """
    return min(MAX_PLACES, max(MIN_PLACES, 1 << (characters // CHARACTERS_PER_PLACE).bit_length()))

"""Default tokens, network and training budget for texts, from a look at the data.

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
"""Words in the vocabulary, and the words to which texts are truncated, by default."""
SAMPLE = 500
"""Texts on which the kind of tokens is decided."""
SHORT_TEXT = 40
"""Mean characters below which a token is a character."""
MAX_CHARACTERS = 2048
"""Characters to which texts are truncated where a token is a character: one endless document must not fill the
memory.
"""
LONG_WORD = 30
"""Mean characters between spaces from which a text has no words: a biological sequence, or a language without
spaces.
"""
MAX_ROWS = 200_000
"""Rows that are counted: more of them would not change a decision."""
ENOUGH_ROWS, LONG_TEXT = 5_000, 400
"""A network is worth its time on at least this many texts, of fewer characters than this on average."""
N_GRAMS_BESIDE_NETWORK = 2
"""The longest n-grams of the bag beside the default network; a bag alone has longer ones."""
CHARACTERS_PER_PLACE = 25
"""A token has about five characters, and a corpus repeats about one n-gram for every five tokens."""
MIN_PLACES, MAX_PLACES = 1 << 12, 1 << 20
ENOUGH_EXAMPLES, MIN_EPOCHS, MAX_EPOCHS = 40_000, 2, 20
"""Examples after which a bag stops improving: few epochs of many texts, many epochs of few."""
MINUTES = 3
"""The budget of a bag, however large the data."""


@dataclass(frozen=True)
class Texts:
    """The number of texts, and of characters in all of them."""

    rows: int
    characters: int

    @classmethod
    def of(cls, recipe: Recipe, train: Source) -> Texts:
        lengths = [len(str(row.values.get(recipe.data.text, ""))) for row in islice(train.rows(), MAX_ROWS)]
        return cls(len(lengths), sum(lengths))


def with_default_tokens(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Words for texts of some length, characters for short texts and those without spaces; long texts are
    truncated.
    """
    texts = [str(row.values.get(recipe.data.text, "")) for row in islice(train.rows(), SAMPLE)]
    mean = sum(map(len, texts)) / max(1, len(texts))
    per_word = mean / max(1.0, sum(len(text.split()) for text in texts) / max(1, len(texts)))
    kind = "words" if mean >= SHORT_TEXT and per_word < LONG_WORD else "characters"
    size = {"size": recipe.tokens.size or VOCABULARY_SIZE, "lowercase": True} if kind == "words" else {}
    recipe = recipe.changed("tokens", kind=kind, **size)
    reasons = [f"tokens are {kind} (texts of {mean:.0f} characters on average); another: tokens.kind=NAME"]
    if "max_length" not in recipe.data.model_fields_set:
        max_length = MAX_WORDS if kind == "words" else MAX_CHARACTERS
        recipe = recipe.changed("data", max_length=max_length)
        length = (lambda text: len(text.split())) if kind == "words" else len
        if any(length(text) > max_length for text in texts):
            reasons.append(f"texts are cut to {max_length:,} tokens; whole texts: data.max_length=0")
    return recipe, reasons


def with_default_network(recipe: Recipe, texts: Texts) -> tuple[Recipe, str]:
    """For many short texts a bidirectional network beside a bag of word pairs.

    For few or long texts the bag alone is as good, and ten times faster.
    """
    if texts.rows >= ENOUGH_ROWS and texts.characters < LONG_TEXT * texts.rows:
        network = RecurrentSettings(bidirectional=True, hidden_size=64, pooling="max", dropout=0.5)
        recipe = recipe.model_copy(update={"model": network}).with_defaults(
            "bag", n_grams=N_GRAMS_BESIDE_NETWORK
        )
        return (
            recipe,
            f"a recurrent network beside a bag of {recipe.bag.n_grams}-grams; another: --model NAME",
        )
    why = "long" if texts.characters >= LONG_TEXT * texts.rows else "few"
    return recipe.model_copy(
        update={"model": NGramBagSettings()}
    ), f"a bag of n-grams ({why} texts); a network: --model bilstm"


def with_bag_defaults(recipe: Recipe, texts: Texts) -> Recipe:
    """The recipe with the size of its bag, and with a training budget if it has none."""
    if not recipe.bag.max_features:
        recipe = recipe.changed("bag", max_features=max_features_for(texts.characters))
    if {"steps", "epochs", "minutes"} & recipe.training.model_fields_set:
        return recipe
    epochs = min(MAX_EPOCHS, max(MIN_EPOCHS, round(ENOUGH_EXAMPLES / max(1, texts.rows))))
    return recipe.changed("training", epochs=epochs, minutes=MINUTES)


def refuse_bag_settings(recipe: Recipe) -> None:
    """Settings of a bag have no effect on a network without one."""
    defaults = BagSettings()
    idle = [
        f"bag.{name}"
        for name in BagSettings.model_fields
        if getattr(recipe.bag, name) != getattr(defaults, name)
    ]
    if idle:
        raise RecipeError(
            f"no effect: a {recipe.model.kind} model has no bag of n-grams beside it.",
            where=" and ".join(idle),
            cure="Add one with bag.n_grams=2, use --model bag, or leave it out.",
        )


def max_features_for(characters: int) -> int:
    """The features of a bag: a power of two.

    >>> max_features_for(1_000), max_features_for(1_200_000), max_features_for(30_000_000)
    (4096, 65536, 1048576)
    """
    return min(MAX_PLACES, max(MIN_PLACES, 1 << (characters // CHARACTERS_PER_PLACE).bit_length()))

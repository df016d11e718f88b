"""What a token is, which network reads texts of words, and how long it learns, where nobody says anything:
from a look at the texts.

Chosen on validation data; the numbers stand in docs/tasks/classification.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from seqlab.models.settings import NGramBagSettings, RecurrentSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source

WORDS, LONGEST = 30_000, 512
"""Words that are known, and the length to which texts are cut, by default."""
SAMPLE = 500
SHORT_TEXT = 40
"""Mean characters below which text is read letter by letter."""
LONGEST_CHARACTERS = 2048
"""The length to which texts are cut that are read letter by letter: one endless document must not fill the
memory.
"""
LONG_WORD = 30
"""Mean letters between blanks from which a text is no text of words: a biological sequence, or a language
without blanks.
"""
MOST_ROWS = 200_000
"""Rows that are looked at: with more of them nothing is decided otherwise."""
ENOUGH_ROWS, LONG_TEXT = 5_000, 400
"""A network earns its time on at least so many texts, of fewer characters than this on average."""
BESIDE = 2
"""The longest n-grams that are weighed beside the default network; a bag alone has longer ones."""
LETTERS_PER_PLACE = 25
"""About five letters make a token, and about one n-gram comes twice for every five tokens of a corpus."""
FEWEST_PLACES, MOST_PLACES = 1 << 12, 1 << 20
ENOUGH_EXAMPLES, FEWEST_EPOCHS, MOST_EPOCHS = 40_000, 2, 20
"""Texts after which a bag has learned what it can: few passes over many texts, many over few."""
MINUTES = 3
"""However large the data."""


@dataclass(frozen=True)
class Texts:
    """How many texts there are, and characters in all of them."""

    rows: int
    letters: int

    @classmethod
    def of(cls, recipe: Recipe, train: Source) -> Texts:
        lengths = [len(str(row.values.get(recipe.data.text, ""))) for row in islice(train.rows(), MOST_ROWS)]
        return cls(len(lengths), sum(lengths))


def with_default_tokens(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Texts of some length are read by words, short ones and those without blanks letter by letter; all are
    cut.
    """
    texts = [str(row.values.get(recipe.data.text, "")) for row in islice(train.rows(), SAMPLE)]
    mean = sum(map(len, texts)) / max(1, len(texts))
    per_word = mean / max(1.0, sum(len(text.split()) for text in texts) / max(1, len(texts)))
    kind = "words" if mean >= SHORT_TEXT and per_word < LONG_WORD else "characters"
    size = {"size": recipe.tokens.size or WORDS, "lowercase": True} if kind == "words" else {}
    recipe = recipe.changed("tokens", kind=kind, **size)
    reasons = [f"tokens are {kind} (texts of {mean:.0f} characters on average); another: tokens.kind=NAME"]
    if "max_length" not in recipe.data.model_fields_set:
        longest = LONGEST if kind == "words" else LONGEST_CHARACTERS
        recipe = recipe.changed("data", max_length=longest)
        if any(len(text) > longest for text in texts):
            reasons.append(f"texts are cut to {longest:,} tokens; whole texts: data.max_length=0")
    return recipe, reasons


def with_default_network(recipe: Recipe, texts: Texts) -> tuple[Recipe, str]:
    """Many short texts: a network in both directions beside a bag of word pairs.

    Few or long ones: the bag alone is as good, and ten times faster.
    """
    if texts.rows >= ENOUGH_ROWS and texts.letters < LONG_TEXT * texts.rows:
        network = RecurrentSettings(bidirectional=True, hidden_size=64, pooling="max", dropout=0.5)
        recipe = recipe.model_copy(update={"model": network}).with_defaults("bag", n_grams=BESIDE)
        return (
            recipe,
            f"a recurrent network beside a bag of {recipe.bag.n_grams}-grams; another: --model NAME",
        )
    why = "long" if texts.letters >= LONG_TEXT * texts.rows else "few"
    return recipe.model_copy(
        update={"model": NGramBagSettings()}
    ), f"a bag of n-grams ({why} texts); a network: --model bilstm"


def with_bag_defaults(recipe: Recipe, texts: Texts) -> Recipe:
    """The recipe with the size of its bag, and with a budget if it has none."""
    if not recipe.bag.places:
        recipe = recipe.changed("bag", places=places_for(texts.letters))
    if {"steps", "epochs", "minutes"} & recipe.training.model_fields_set:
        return recipe
    epochs = min(MOST_EPOCHS, max(FEWEST_EPOCHS, round(ENOUGH_EXAMPLES / max(1, texts.rows))))
    return recipe.changed("training", epochs=epochs, minutes=MINUTES)


def places_for(letters: int) -> int:
    """A power of two.

    >>> places_for(1_000), places_for(1_200_000), places_for(30_000_000)
    (4096, 65536, 1048576)
    """
    return min(MOST_PLACES, max(FEWEST_PLACES, 1 << (letters // LETTERS_PER_PLACE).bit_length()))

"""Features of a bag of words: words, words and word pairs, or character n-grams.

A baseline that uses the network's tokens flatters the network if these do not suit the baseline: naive Bayes
on subwords is weaker than on words. Therefore every baseline is fitted on each of these feature sets, and the best on
validation data counts. For long texts, features that would take too long are skipped.

Paper: Wang & Manning 2012, "Baselines and Bigrams", ACL; characters: Cavnar & Trenkle 1994, "N-Gram-Based Text
Categorization".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from seqlab.tokens.words import Words

MAX_FEATURES = 1 << 18
"""Maximum number of features, most frequent first."""
MAX_CHARACTER_NGRAM = 4

Texts = Sequence[str]


@dataclass(frozen=True)
class BagView:
    """The texts of some splits as ids of their distinct features."""

    name: str
    ids: Mapping[str, Any]
    """For each split, an array of ids per text."""
    size: int


def words(text: str) -> list[str]:
    """
    >>> words("The film's good.")
    ['the', 'film', "'s", 'good', '.']
    """
    return Words.words_of(text.lower())


def words_and_pairs(text: str) -> list[str]:
    """
    >>> words_and_pairs("not good")
    ['not', 'good', 'not good']
    """
    single = words(text)
    return single + [f"{first} {second}" for first, second in pairwise(single)]


def character_ngrams(text: str) -> list[str]:
    """One to four characters, with a space at both ends.

    >>> character_ngrams("Ab")
    [' ', 'a', 'b', ' ', ' a', 'ab', 'b ', ' ab', 'ab ', ' ab ']
    """
    padded = f" {' '.join(text.lower().split())} "
    return [
        padded[start : start + length]
        for length in range(1, MAX_CHARACTER_NGRAM + 1)
        for start in range(len(padded) - length + 1)
    ]


FEATURES: Mapping[str, tuple[Callable[[str], list[str]], int]] = {
    "words": (words, 40_000_000),
    "words and word pairs": (words_and_pairs, 10_000_000),
    "character n-grams": (character_ngrams, 2_000_000),
}
"""Each with the maximum number of training characters for which it is tried: a few seconds of work."""


@dataclass(frozen=True)
class BagFeatures:
    """The features of one kind that occur in the training texts, and their ids."""

    name: str
    ids: Mapping[str, int]

    @property
    def size(self) -> int:
        return max(1, len(self.ids))

    def encode(self, texts: Texts) -> list[Any]:
        """An array of distinct ids for each text; features that do not occur in training are ignored."""
        features_of, _ = FEATURES[self.name]
        return [_known_ids(features_of(text), self.ids) for text in texts]


def fit_features(train: Texts) -> Iterator[BagFeatures]:
    """Every kind of feature that does not take too long for these training texts."""
    num_characters = sum(map(len, train))
    for name, (features_of, max_characters) in FEATURES.items():
        if num_characters <= max_characters:
            counts = Counter(feature for text in train for feature in set(features_of(text)))
            most_frequent = counts.most_common(MAX_FEATURES)
            yield BagFeatures(name, {feature: number for number, (feature, _) in enumerate(most_frequent)})


def _known_ids(features: Sequence[str], ids: Mapping[str, int]) -> Any:
    return np.array(sorted({ids[feature] for feature in features if feature in ids}), np.int32)

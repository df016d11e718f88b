"""What a bag of words counts: words, words and pairs of them, or short pieces of text.

A baseline on the tokens of the network it is compared with flatters the network where these do not suit it: naive Bayes
on word pieces knows less than on words. So every baseline is fitted on each of these features, and the best on
validation data counts. Long texts leave out the features that would take too long.

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
"""Features of the training texts that are kept, the most frequent ones."""
MAX_CHARACTER_NGRAM = 4

Texts = Sequence[str]


@dataclass(frozen=True)
class BagView:
    """The texts of some splits as ids of their distinct features."""

    name: str
    ids: Mapping[str, Any]
    """By split: an array of ids for every text."""
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
"""Each with the most characters of training text for which it is tried: a few seconds of work."""


def bag_views(train: Texts, others: Mapping[str, Texts]) -> Iterator[BagView]:
    """The texts by each of the features; ids come from the training texts, and other features are ignored."""
    num_characters = sum(map(len, train))
    for name, (features_of, max_characters) in FEATURES.items():
        if num_characters <= max_characters:
            counts = Counter(feature for text in train for feature in set(features_of(text)))
            ids = {feature: number for number, (feature, _) in enumerate(counts.most_common(MAX_FEATURES))}
            texts = {"train": train, **others}
            yield BagView(
                name,
                {split: [_encode(features_of(text), ids) for text in some] for split, some in texts.items()},
                max(1, len(ids)),
            )


def _encode(features: Sequence[str], ids: Mapping[str, int]) -> Any:
    return np.array(sorted({ids[feature] for feature in features if feature in ids}), np.int32)

"""Words and their vectors: a table with one row of numbers for each word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import UsageError, nearest

Vectors = NDArray[np.float32]


class WordVectors:
    """Row i is the vector of word i; the order is that of the file or vocabulary, usually the most
    frequent first.

    >>> table = WordVectors(["north", "east"], np.array([[0, 2], [1, 0]]))
    >>> table.vector("north").tolist(), table.units[0].tolist(), table.width
    ([0.0, 2.0], [0.0, 1.0], 2)
    """

    def __init__(self, words: Sequence[str], vectors: NDArray[np.floating] | NDArray[np.integer]) -> None:
        if vectors.ndim != 2 or len(words) != len(vectors):
            raise ValueError(
                f"{len(words)} words need one vector each, found an array of shape {vectors.shape}"
            )
        self.words = list(words)
        self.vectors: Vectors = np.ascontiguousarray(vectors, dtype=np.float32)  # (words, width)
        self.places = {word: place for place, word in enumerate(self.words)}
        if len(self.places) != len(self.words):
            raise ValueError("a word occurs twice in the table")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def width(self) -> int:
        return self.vectors.shape[1]

    @cached_property
    def units(self) -> Vectors:
        """Every vector divided by its length, so that the dot product of two is their cosine.

        A zero vector stays zero.
        """
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return self.vectors / np.maximum(lengths, np.finfo(np.float32).tiny)

    def place(self, word: str) -> int:
        """The row of a word. A missing word is an error that suggests the closest spelling."""
        if word not in self.places:
            raise UsageError(f"the word '{word}' has no vector.", cure=nearest(word, self.words))
        return self.places[word]

    def vector(self, word: str) -> Vectors:
        vector: Vectors = self.vectors[self.place(word)]
        return vector

    def without(self, words: Sequence[str]) -> WordVectors:
        """The same table without the given words."""
        kept = [place for place, word in enumerate(self.words) if word not in words]
        return WordVectors([self.words[place] for place in kept], self.vectors[kept])

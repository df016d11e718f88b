"""Predicts the most frequent tag of every word: what a tagger must beat, since it ignores the
context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class MostFrequentTag:
    """tag(word) = the tag that the word has most often in the training data; an unseen word gets the
    most frequent tag of all.

    Ties go to the tag seen first.

    >>> baseline = MostFrequentTag.fit([(["the", "dog"], [0, 1]), (["the", "walk"], [0, 1]), (["walk", "walk"], [2, 2])])
    >>> baseline.predict(["the", "walk", "whale"]), baseline.has_seen("whale"), baseline.count("walk")
    ([0, 2, 0], False, 3)
    """

    def __init__(self, tag_by_word: dict[str, int], most_frequent: int, counts: dict[str, int]) -> None:
        self._tag_by_word = tag_by_word
        self._counts = counts
        self._most_frequent = most_frequent

    @classmethod
    def fit(cls, sentences: Iterable[tuple[Sequence[str], Sequence[int]]]) -> MostFrequentTag:
        counts_by_word: dict[str, Counter[int]] = {}
        total = Counter[int]()
        for words, tags in sentences:
            total.update(tags)
            for word, tag in zip(words, tags, strict=True):
                counts_by_word.setdefault(word, Counter())[tag] += 1
        best = {word: counts.most_common(1)[0][0] for word, counts in counts_by_word.items()}
        return cls(
            best,
            total.most_common(1)[0][0],
            {word: counts.total() for word, counts in counts_by_word.items()},
        )

    def has_seen(self, word: str) -> bool:
        return word in self._tag_by_word

    def count(self, word: str) -> int:
        """How often a word occurs in the training data."""
        return self._counts.get(word, 0)

    def predict(self, words: Sequence[str]) -> list[int]:
        return [self._tag_by_word.get(word, self._most_frequent) for word in words]

"""Every word gets the tag that it mostly has: what a tagger must beat, since it never looks at the neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class MostFrequentTag:
    """tag(word) = the tag that the word has most often in the training data; a word never seen there gets the most frequent tag of all.

    Of equally frequent tags the one seen first counts.

    >>> baseline = MostFrequentTag.fit([(["the", "dog"], [0, 1]), (["the", "walk"], [0, 1]), (["walk", "walk"], [2, 2])])
    >>> baseline.predict(["the", "walk", "whale"]), baseline.has_seen("whale"), baseline.times("walk")
    ([0, 2, 0], False, 3)
    """

    def __init__(self, by_word: dict[str, int], most_frequent: int, times: dict[str, int]) -> None:
        self._by_word = by_word
        self._times = times
        self._most_frequent = most_frequent

    @classmethod
    def fit(cls, sentences: Iterable[tuple[Sequence[str], Sequence[int]]]) -> MostFrequentTag:
        by_word: dict[str, Counter[int]] = {}
        total = Counter[int]()
        for words, tags in sentences:
            total.update(tags)
            for word, tag in zip(words, tags, strict=True):
                by_word.setdefault(word, Counter())[tag] += 1
        best = {word: counts.most_common(1)[0][0] for word, counts in by_word.items()}
        return cls(best, total.most_common(1)[0][0], {word: counts.total() for word, counts in by_word.items()})

    def has_seen(self, word: str) -> bool:
        return word in self._by_word

    def times(self, word: str) -> int:
        """How often the training data has a word."""
        return self._times.get(word, 0)

    def predict(self, words: Sequence[str]) -> list[int]:
        return [self._by_word.get(word, self._most_frequent) for word in words]

"""Words as their characters, so that a word never seen before still shows its beginning, its ending and its
capitals.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqlab.core.files import write_whole
from seqlab.tokens.untrusted_json import damaged, list_of_texts, read_json_object
from seqlab.tokens.vocabulary import EOS, PAD, SOS, UNK, Vocabulary

BORDERS = 2
SHORTEST, LONGEST = BORDERS + 2, 1000
LARGEST_FILE = 10_000_000
KEPT = 1 << 16
"""Maximum number of words whose characters are cached."""

Characters = NDArray[np.int32]


class Spelling:
    """word -> begin, its characters, end, padded with 0 to `longest` numbers.

    Of a word that is too long the first and the last characters are kept, since beginnings and endings tell
    most. A character is a code point, so an accent written as a mark of its own is one too; capitals are
    kept. One that training has in a single word counts as unknown.

    >>> spelling = Spelling.learn({"cat": 2, "at": 1}, longest=6)
    >>> spelling.vocabulary.pieces
    ['<pad>', '<unk>', '<sos>', '<eos>', 'a', 't', 'c']
    >>> spelling.encode("tact").tolist(), spelling.encode("tattooed").tolist()
    ([2, 5, 4, 6, 5, 3], [2, 5, 4, 1, 1, 3])
    """

    def __init__(self, vocabulary: Vocabulary, *, longest: int) -> None:
        assert vocabulary.specials == [PAD, UNK, SOS, EOS], "0 fills up"
        self.vocabulary = vocabulary
        self.longest = longest
        self.encode = lru_cache(KEPT)(self._encode)

    @classmethod
    def learn(cls, words: Mapping[str, int], *, longest: int) -> Spelling:
        """Collect the characters of words, weighted by the counts of the words in the training data."""
        counts = Counter[str]()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        return cls(
            Vocabulary.from_counts(counts, specials=[PAD, UNK, SOS, EOS], min_count=2), longest=longest
        )

    def __len__(self) -> int:
        return len(self.vocabulary)

    def _encode(self, word: str) -> Characters:
        most = self.longest - BORDERS
        kept = word if len(word) <= most else word[: most - most // 2] + word[len(word) - most // 2 :]
        ids = self.vocabulary.text_ids
        spelled = np.zeros(self.longest, np.int32)
        spelled[: len(kept) + BORDERS] = [
            self.vocabulary.id(SOS),
            *(ids[character] for character in kept),
            self.vocabulary.id(EOS),
        ]
        return spelled

    def save(self, path: Path) -> None:
        write_whole(
            path,
            json.dumps(
                {
                    "longest": self.longest,
                    "characters": self.vocabulary.pieces[len(self.vocabulary.specials) :],
                },
                indent=0,
            ),
        )

    @classmethod
    def load(cls, path: Path) -> Spelling:
        data = read_json_object(path, largest=LARGEST_FILE)
        longest = data.get("longest")
        if isinstance(longest, bool) or not isinstance(longest, int) or not SHORTEST <= longest <= LONGEST:
            raise damaged(path, "does not say how many characters of a word are read")
        try:
            return cls(
                Vocabulary(list_of_texts(data, "characters", path=path), specials=[PAD, UNK, SOS, EOS]),
                longest=longest,
            )
        except ValueError as error:
            raise damaged(path, "lists a character twice") from error

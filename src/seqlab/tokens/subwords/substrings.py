"""Every substring that occurs more than once in a list of words, found for all words at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Floats = NDArray[np.float64]


class Substrings:
    """Numbered substrings of counted words, single characters first, then in order of length.

    The substring of length n at a position is the one of length n - 1 and one more character. A pair of
    numbers identifies it, and sorting the pairs finds equal ones without ever building a string.

    `number[n - 1][place]` is the number of the substring of length n that starts at a position of the joined
    words, or -1 if the word ends before it or the substring occurs only once. Each number has a
    length, a count, and a first position.
    """

    def __init__(self, words: Mapping[str, int], *, longest: int) -> None:
        self.text = "".join(words)
        self.word_lengths: Places = np.array([len(word) for word in words], dtype=np.int64)
        self.word: Places = np.repeat(np.arange(len(words)), self.word_lengths)  # of every place
        ends = np.cumsum(self.word_lengths)
        self.begin: Places = (
            np.arange(len(self.text)) - (ends - self.word_lengths)[self.word]
        )  # of every place, inside its word
        self._left = self.word_lengths[self.word] - self.begin
        times = np.array(list(words.values()), dtype=np.float64)[self.word]
        codepoints = np.frombuffer(self.text.encode("utf-32-le"), dtype="<u4").astype(np.int64)
        characters, codes = np.unique(codepoints, return_inverse=True)
        self.number: list[Places] = [codes]
        self.length: Places = np.ones(len(characters), dtype=np.int64)
        self.times: Floats = np.bincount(codes, weights=times, minlength=len(characters)).astype(np.float64)
        self.place: Places = np.unique(codes, return_index=True)[1]
        for length in range(2, longest + 1):
            self._lengthen(length, codes, times, num_characters=len(characters))

    def _lengthen(self, length: int, codes: Places, times: Floats, *, num_characters: int) -> None:
        shorter = self.number[-1]
        places = np.flatnonzero((self._left >= length) & (shorter >= 0))
        pairs = shorter[places] * num_characters + codes[places + length - 1]
        _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
        how_often = np.bincount(which, weights=times[places], minlength=len(first))
        repeated = how_often > 1
        new = np.where(repeated, len(self.length) - 1 + np.cumsum(repeated), -1)
        numbers: Places = np.full(len(self.text), -1, dtype=np.int64)
        numbers[places] = new[which]
        self.number.append(numbers)
        self.length = np.concatenate([self.length, np.full(int(repeated.sum()), length, dtype=np.int64)])
        self.times = np.concatenate([self.times, how_often[repeated]])
        self.place = np.concatenate([self.place, places[first[repeated]]])

    def __getitem__(self, number: int) -> str:
        start = int(self.place[number])
        return self.text[start : start + int(self.length[number])]

    def edges_in_words(self, piece_of: Places) -> Places:
        """Rows of (word, begin, stop, piece) wherever a substring that is a token occurs in a word;
        `piece_of` is -1 for the others.
        """
        rows = []
        for length, numbers in enumerate(self.number, start=1):
            pieces = np.where(numbers >= 0, piece_of[numbers], -1)
            at = np.flatnonzero(pieces >= 0)
            rows.append(
                np.stack([self.word[at], self.begin[at], self.begin[at] + length, pieces[at]], axis=1)
            )
        return np.concatenate(rows)

    def edges_in_pieces(self, chosen: Places, piece_of: Places) -> Places:
        """Like `edges_in_words`, but inside the chosen tokens, without the edge from each token to itself."""
        return np.concatenate([np.empty((0, 4), dtype=np.int64), *self._shorter_parts(chosen, piece_of)])

    def _shorter_parts(self, chosen: Places, piece_of: Places) -> Iterator[Places]:
        lengths, places = self.length[chosen], self.place[chosen]
        for length, numbers in enumerate(self.number, start=1):
            for begin in range(len(self.number) - length + 1):
                inside = np.flatnonzero((lengths >= begin + length) & (lengths > length))
                parts = numbers[places[inside] + begin]
                pieces = np.where(parts >= 0, piece_of[parts], -1)
                word, pieces = inside[pieces >= 0], pieces[pieces >= 0]
                yield np.stack(
                    [word, np.full_like(word, begin), np.full_like(word, begin + length), pieces], axis=1
                )

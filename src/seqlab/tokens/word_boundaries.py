"""Which tokens belong to the same word, from their ids alone."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.base import Tokenizer

BLANK, LETTER, DIGIT, MARK, SPECIAL = range(5)
WHOLE = ("words", "whitespace")
"""Tokenizers whose tokens are all words."""
CONTINUES = "##"


class WordBorders:
    """Numbers the words of a sequence of ids.

    A WordPiece token that starts with ## continues its word, and a token of `words` or `whitespace` is one.
    The other tokenizers split a text into letters, bytes or pieces that may include the space before them: there a
    word ends before a space, and where letters, digits and marks meet.

    >>> from seqlab.tokens.characters import Characters
    >>> from seqlab.tokens.settings import TokenSettings
    >>> letters = Characters.fit(["ab 12!"], TokenSettings(), specials=["<unk>", "<pad>"])
    >>> WordBorders.of(letters).groups(letters.encode("ab 12!")).tolist()
    [0, 0, 1, 2, 2, 3]
    """

    def __init__(self, first: NDArray[np.int8], last: NDArray[np.int8], begins: NDArray[np.bool_]) -> None:
        self._first = first
        self._last = last
        self._begins = begins
        """For every id: the kind of its first and last character, and whether it starts a word regardless of what
        precedes it.
        """

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Self:
        vocabulary = tokenizer.vocabulary
        texts = [_text_of(tokenizer, place) for place in range(len(vocabulary))]
        first = np.array([_kind(text[:1]) for text in texts], np.int8)
        last = np.array([_kind(text[-1:]) for text in texts], np.int8)
        if tokenizer.kind in WHOLE:
            begins = np.ones(len(texts), np.bool_)
        elif tokenizer.kind == "wordpiece":
            begins = np.array([not piece.startswith(CONTINUES) for piece in vocabulary.pieces], np.bool_)
            first = last = np.zeros(len(texts), np.int8)
        else:
            begins = (first == BLANK) & (last != BLANK)
        begins[list(vocabulary.special_ids)] = True
        return cls(first, last, begins)

    def groups(self, ids: NDArray[np.integer]) -> NDArray[np.int64]:
        """For every id the number of its word, from 0."""
        starts = self._begins[ids]
        starts[1:] |= self._first[ids[1:]] != self._last[ids[:-1]]
        starts[:1] = False
        return np.cumsum(starts, dtype=np.int64)


def _text_of(tokenizer: Tokenizer, place: int) -> str:
    """The text of a token; the first bytes of a letter are not text yet."""
    return "" if place in tokenizer.vocabulary.special_ids else tokenizer.decode([place])


def _kind(sign: str) -> int:
    """Half a letter (a single byte) counts as a letter."""
    if not sign:
        return SPECIAL
    if sign.isspace():
        return BLANK
    if sign.isalpha() or sign == "\ufffd":
        return LETTER
    return DIGIT if sign.isnumeric() else MARK

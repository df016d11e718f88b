"""One token per word or punctuation mark."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from seqlab.tokens.base import tokenizers
from seqlab.tokens.word_list import WordList

LINE_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
CLITIC = re.compile(r"['’]\w")
NO_BLANK_BEFORE = frozenset(".,!?;:%)]}…»”’") | {"..", "...", "...."}
NO_BLANK_AFTER = frozenset("([{«“‘$£€#@¿¡")
NO_BLANK_AROUND = frozenset("-/_")
QUOTES = frozenset("\"'`")


@tokenizers.register("words")
class Words(WordList):
    """Splits text into words, numbers and punctuation marks, the way a reader would.

    - "don't" is don + 't and "film's" is film + 's, so that the film of "film's" is the known word film.
    - "1,000.5" is one number; ".." and "--" of any length are one mark; any other mark is a separate token.
    - `<br />` is a line break, not five tokens: reviews scraped from web pages are full of it.
    - Vowel signs and accents written as combining marks belong to their word.
    - An emoji is one token with its modifiers: "❤️", "👍🏽", the family "👩‍👩‍👧", the flag "🇩🇪".

    Whitespace is not kept, so `join` returns readable text, not the exact original. Languages written
    without spaces need `characters` or `unigram`.

    >>> pieces = Words.words_of("Well-made (8.5/10).<br />I don't mind!")
    >>> pieces
    ['Well', '-', 'made', '(', '8.5', '/', '10', ')', '.', 'I', 'don', "'t", 'mind', '!']
    >>> join_words(pieces)
    "Well-made (8.5/10). I don't mind!"
    """

    kind = "words"

    @staticmethod
    def words_of(text: str) -> list[str]:
        if "<" in text:
            text = LINE_BREAK.sub("\n", text)
        return _pattern().findall(text)

    def join(self, pieces: Sequence[str]) -> str:
        return join_words(pieces)


@cache
def _pattern() -> re.Pattern[str]:
    """Every alternative is possessive (`++`), so time is linear for any text."""
    marks = _marks()
    letter = rf"[\w{marks}]"
    clitic = r"['’](?:[stdmSTDM]|[rR][eE]|[vV][eE]|[lL][lL])\b"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"  # the two letters of a country
    # A sign, then further signs that a joiner binds to it, marks (of which one chooses its glyph), skin
    # tones and the letters of a region.
    sign = rf"[^\w\s](?:\u200d[^\w\s]|[{marks}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])*+"
    return re.compile(rf"\d++(?:[.,]\d++)++|{letter}++|{clitic}|\.\.++|--++|{flag}|{sign}")


def _marks() -> str:
    """Combining marks and invisible joiners for use in a character class, because `\\w` does not match
    them.
    """
    marks = "".join(
        chr(place)
        for place in range(0x300, 0x10000)
        if unicodedata.category(chr(place)) in ("Mn", "Mc", "Me")
    )
    return marks + "\u200c\u200d"


def join_words(pieces: Sequence[str]) -> str:
    """Words and marks as readable text: spaces where a typist would put them.

    >>> join_words(['"', "Yes", ",", '"', "she", "said", "."])
    '"Yes," she said.'
    """
    text: list[str] = []
    open_quotes: set[str] = set()
    glued = True  # no space before the first word
    for piece in pieces:
        closing = piece in open_quotes
        if not (
            glued or closing or piece in NO_BLANK_BEFORE or piece in NO_BLANK_AROUND or CLITIC.match(piece)
        ):
            text.append(" ")
        text.append(piece)
        if piece in QUOTES:
            open_quotes ^= {piece}
        glued = piece in NO_BLANK_AFTER or piece in NO_BLANK_AROUND or (piece in QUOTES and not closing)
    return "".join(text)

"""A tokenizer of your own: identifiers of source code, cut at case changes and underscores."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seqlab import register
from seqlab.tokens.word_list import WordList

PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\w\s]|_")


@register.tokenizer("identifiers")
class IdentifierTokenizer(WordList):
    """Cuts `readHTMLFile_2` into read, HTML, File, _, 2.

    `WordList` counts the pieces of the training split, gives the most frequent ones an id, and saves and loads
    the vocabulary with the run.
    """

    kind = "identifiers"

    @staticmethod
    def words_of(text: str) -> list[str]:
        return PIECES.findall(text)

    def join(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces)

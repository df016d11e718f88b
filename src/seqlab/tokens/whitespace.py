"""One token per whitespace-separated word, for pre-tokenized corpora (WikiText, tagged corpora)."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.tokens.base import tokenizers
from seqlab.tokens.word_list import WordList


@tokenizers.register("whitespace")
class Whitespace(WordList):
    """Splits only at spaces and line breaks; joins with single spaces.

    A corpus of this kind may mark its rare words as `<unk>` itself. That word has the id of the special piece
    `<unk>`; the names of other special pieces, such as `<pad>`, are unknown words like any other.

    >>> Whitespace.words_of(" the <unk> , he said\\n")
    ['the', '<unk>', ',', 'he', 'said']
    """

    kind = "whitespace"

    @staticmethod
    def words_of(text: str) -> list[str]:
        return text.split()

    def join(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces)

"""Base of tokenizers whose tokens are whole words from a list."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from seqlab.tokens.base import Ids, Tokenizer
from seqlab.tokens.chunks import cut
from seqlab.tokens.counting import count_pieces
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import read_tokenizer_header, write_header
from seqlab.tokens.untrusted_json import damaged
from seqlab.tokens.vocabulary import UNK, Vocabulary

VOCABULARY = "vocabulary.json"

# Words are split at spaces, except the one inside a line break of HTML.
BORDER = re.compile(r"(?<!<br)\s", re.IGNORECASE)


class WordList(Tokenizer):
    """The most frequent words of the training split have ids, all others are `<unk>`.

    A subclass defines how text is split into words and how words are joined.
    """

    def __init__(self, vocabulary: Vocabulary, *, lowercase: bool = False) -> None:
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        self._ids = vocabulary.text_ids

    @staticmethod
    @abstractmethod
    def words_of(text: str) -> list[str]:
        """Text -> words, unmodified."""

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        counts = count_pieces(cls._lists(texts, lowercase=settings.lowercase))
        vocabulary = Vocabulary.from_counts(
            counts, specials=specials, size=settings.size, min_count=settings.min_count
        )
        return cls(vocabulary, lowercase=settings.lowercase)

    def split(self, text: str) -> list[str]:
        return self.words_of(text.lower() if self.lowercase else text)

    def encode(self, text: str) -> Ids:
        parts = [self._look_up(words) for words in self._lists([text], lowercase=self.lowercase)]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts])

    def decode(self, ids: Iterable[int]) -> str:
        return self.join(
            [self.vocabulary.pieces[place] for place in self.vocabulary.without_specials(ids).tolist()]
        )

    def decode_filled(self, ids: Iterable[int], words: Iterable[str]) -> str:
        return self.join(self.vocabulary.filled(ids, words))

    def save(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)
        write_header(folder, kind=self.kind, lowercase=self.lowercase)

    @classmethod
    def load(cls, folder: Path) -> Self:
        header = read_tokenizer_header(folder)
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        if UNK not in vocabulary.specials:
            raise damaged(folder / VOCABULARY, f"lacks the special token {UNK}")
        return cls(vocabulary, lowercase=bool(header["lowercase"]))

    @classmethod
    def _lists(cls, texts: Iterable[str], *, lowercase: bool) -> Iterator[list[str]]:
        """The words of all texts; a long text in parts, since a list of words takes ten times the memory of
        its text.
        """
        for text in texts:
            for part in cut(text.lower() if lowercase else text, BORDER):
                yield cls.words_of(part)

    def _look_up(self, words: list[str]) -> Ids:
        return np.fromiter(map(self._ids.__getitem__, words), dtype=np.int32, count=len(words))

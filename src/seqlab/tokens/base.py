"""The interface of tokenizers: text -> pieces -> ids, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.registry import tokenizers as tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import Vocabulary

Ids = NDArray[np.int32]


class Tokenizer(ABC):
    """Splits text into tokens and maps them to ids. Fitted on the training split only; saved inside the run."""

    kind: ClassVar[str]
    vocabulary: Vocabulary

    @classmethod
    @abstractmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        """Build the vocabulary from texts, in one streaming pass."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """Text -> pieces."""

    @abstractmethod
    def join(self, pieces: Sequence[str]) -> str:
        """Pieces -> text."""

    @abstractmethod
    def encode(self, text: str) -> Ids:
        """Text -> ids, at the speed of the kind's fast path; equal to looking up `split` piece by piece."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Ids -> text; special tokens are dropped."""

    def decode_filled(self, ids: Iterable[int], words: Iterable[str]) -> str:
        """Ids -> text, with the next of some words in place of every unknown id.

        This default is for pieces that include their spaces: a word is between spaces, unless what follows
        it has none before it.
        """
        left, text, unknown = iter(words), "", self.vocabulary.unk_id
        for is_unknown, run in groupby(ids, key=lambda token: token == unknown):
            known = list(run)
            for part in (next(left) for _ in known) if is_unknown else [self.decode(known)]:
                apart = is_unknown or self.decode([*known, *known]) == f"{part} {part}"
                text += (" " if text and apart and not text[-1].isspace() else "") + part
        return text

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything that `load` needs, as JSON, into a folder."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """The tokenizer that `save` wrote."""

    def words_at(self, text: str) -> list[str]:
        """For each id of `encode(text)` the word of the text that contains it, known or not; empty if it
        represents no word.

        Tokenizers whose pieces differ from the text override this.
        """
        return self.split(text)

    def encode_many(self, texts: Sequence[str]) -> list[Ids]:
        """Encode several texts at once; tokenizers with a parallel encoder override this."""
        return [self.encode(text) for text in texts]

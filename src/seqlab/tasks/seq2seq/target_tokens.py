"""What is written, as ids: what a target begins and ends with, and words again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import RunError, UsageError, listed
from seqlab.decoding.search import SpecialTokens
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, SOS, UNK

Ids = NDArray[Any]
TARGET = "target"
"""The folder of the tokenizer of what is written, where another one stands beside it."""
SPECIALS = [UNK, PAD, SOS, EOS]


class TargetTokens:
    """A target is the start token, its tokens and the end token."""

    def __init__(self, target: Tokenizer) -> None:
        self.target = target
        require_ends(target)
        self.start_id, self.end_id = (target.vocabulary.ids[piece] for piece in (SOS, EOS))
        self.forced: list[int] = []
        """The first tokens of every target, whatever the model thinks."""

    @property
    def special_tokens(self) -> SpecialTokens:
        """Of all that stands for no text, the tags of languages too, only the end is ever written."""
        never = self.target.vocabulary.special_ids - {self.end_id}
        return SpecialTokens(self.start_id, self.end_id, tuple(sorted(never)))

    @classmethod
    def load(cls, folder: Path) -> TargetTokens:
        return cls(load_tokenizer(folder / TARGET))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.target, folder / TARGET)

    def write(self, texts: Sequence[str]) -> list[Ids]:
        """Targets."""
        start, end = (np.array([token], np.int32) for token in (self.start_id, self.end_id))
        return [np.concatenate([start, ids, end]) for ids in self.target.encode_many(list(texts))]

    def cut(self, text: str, *, where: str) -> list[int]:
        """The tokens of a target between its start and its end, with what is forced; `where` asks, for an
        error.
        """
        return [int(token) for token in self.write([text])[0][1:-1]]

    def cut_known(self, text: str, *, where: str) -> list[int]:
        """The same, of a text that has to be written as it stands."""
        found, vocabulary = self.cut(text, where=where), self.target.vocabulary
        unknown = vocabulary.unk_id
        if vocabulary.has_unknown and unknown in found:
            words = [word for word in text.split() if unknown in self.cut(word, where=where)] or [text]
            raise UsageError(
                f"the model does not know {listed([repr(word) for word in words])}, and so cannot write it.",
                where=where,
                cure="Use words that its training targets have, or leave it out.",
            )
        return found

    def words(self, ids: Iterable[int]) -> str:
        """The text of target tokens, without what was forced."""
        return self.target.decode(list(ids)[len(self.forced) :])


def require_ends(tokenizer: Tokenizer) -> None:
    """Tokens of either side know where a sequence starts and ends."""
    if missing := [piece for piece in (SOS, EOS) if piece not in tokenizer.vocabulary.ids]:
        raise RunError(
            f"the tokens know no {' and no '.join(missing)}, which pairs need.",
            where="tokens",
            cure="Train a new run.",
        )

"""The base codec of tasks that generate a target: targets as token ids (start, tokens, end), and back to
text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy.typing import NDArray
from torch import Tensor

from seqlab.core.errors import RunError, UsageError, listed
from seqlab.decoding.search import SpecialTokens
from seqlab.tasks.codec import Codec
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, SOS, UNK

Ids = NDArray[Any]
TARGET = "target"
"""The folder of the target tokenizer, if it is not the only one."""
SPECIALS = [UNK, PAD, SOS, EOS]
NO_LIMIT = 1 << 30
SourceSteps = Shaped[Tensor, "source *features"]
"""One source, as the encoder reads it."""


class TargetTokens:
    """A target is the start token, its tokens and the end token."""

    def __init__(self, target: Tokenizer) -> None:
        self.target = target
        require_start_and_end(target)
        self.start_id, self.end_id = (target.vocabulary.ids[piece] for piece in (SOS, EOS))
        self.forced_ids: list[int] = []
        """The tokens with which every target starts, regardless of their probability."""

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """The tokenizers, by the name of their side."""
        return {"target": self.target}

    @property
    def special_tokens(self) -> SpecialTokens:
        """The special tokens; of those (including language tags), only the end token is ever generated."""
        suppressed = self.target.vocabulary.special_ids - {self.end_id}
        return SpecialTokens(self.start_id, self.end_id, tuple(sorted(suppressed)))

    @classmethod
    def load(cls, folder: Path) -> TargetTokens:
        return cls(load_tokenizer(folder / TARGET))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.target, folder / TARGET)

    def encode_targets(self, texts: Sequence[str]) -> list[Ids]:
        """Encode targets, from the start token to the end token."""
        start, end = (np.array([token], np.int32) for token in (self.start_id, self.end_id))
        return [np.concatenate([start, ids, end]) for ids in self.target.encode_many(list(texts))]

    def target_ids(self, text: str, *, where: str) -> list[int]:
        """Return the tokens of a target between start and end, including forced ones.

        where: the setting or argument that holds the text, for errors.
        """
        return [int(token) for token in self.encode_targets([text])[0][1:-1]]

    def known_target_ids(self, text: str, *, where: str) -> list[int]:
        """Return the tokens of a text that must be generated exactly; out-of-vocabulary words are an error."""
        ids, vocabulary = self.target_ids(text, where=where), self.target.vocabulary
        unknown = vocabulary.unk_id
        if vocabulary.has_unknown and unknown in ids:
            words = [word for word in text.split() if unknown in self.target_ids(word, where=where)] or [text]
            raise UsageError(
                f"{listed([repr(word) for word in words])} is not in the vocabulary, so the model cannot generate it.",
                where=where,
                cure="Use words of the training targets, or remove it.",
            )
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Decode target tokens, without the forced ones."""
        return self.target.decode(list(ids)[len(self.forced_ids) :])


def require_start_and_end(tokenizer: Tokenizer) -> None:
    """Reject a tokenizer without a start or end token."""
    if missing := [piece for piece in (SOS, EOS) if piece not in tokenizer.vocabulary.ids]:
        raise RunError(
            f"the tokenizer has no {' and no '.join(missing)} token, which sequence pairs need.",
            where="tokens",
            cure="Train a new run.",
        )


@dataclass(frozen=True)
class Seq2SeqCodec(Codec):
    """Sources as steps, targets as tokens."""

    tokens: TargetTokens
    max_positions: int = field(default=NO_LIMIT, kw_only=True)
    """Maximum length of a source or target in tokens, given the positions of the network."""

    @abstractmethod
    def encode_inputs(self, inputs: Sequence[Any]) -> Iterable[SourceSteps]:
        """Encode the inputs of a prediction as the encoder reads them."""

"""Texts as ids, and ids as the text of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.models.settings import ModelSettings, max_known_length
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK


def encode_texts(tokenizer: Tokenizer, texts: Sequence[Any], model: ModelSettings) -> list[NDArray[np.int32]]:
    """At least one id for each text, and no more than the network has learned positions."""
    max_length = max_known_length(model)
    unknown = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
    return [
        (ids if len(ids) else unknown)[:max_length]
        for ids in tokenizer.encode_many([str(text) for text in texts])
    ]


def pieces_of(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The tokens of ids, as the vocabulary writes them."""
    return [tokenizer.vocabulary.pieces[token] for token in ids.tolist()]


def readable_pieces(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The same for readers: byte pairs as the characters they stand for, where these are complete."""
    texts = [tokenizer.decode([token]) for token in ids.tolist()]
    return [
        text if text and "\ufffd" not in text else piece
        for text, piece in zip(texts, pieces_of(tokenizer, ids), strict=True)
    ]

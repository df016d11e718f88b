"""Decode tags from the logits of a tagger: word by word, or with a CRF for the whole sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.blocks.crf import CRF
from seqlab.blocks.words_first import words_first

Logits = Float[Tensor, "batch time tags"]
IsWord = Bool[Tensor, "batch time"]
"""The steps that predict the tag of a word; other steps may lie between them, such as the first pieces of
words.
"""


@dataclass(frozen=True)
class DecodedTags:
    """The tags of one sentence, and the probabilities behind them."""

    log_probs: Float[np.ndarray, "words tags"]
    tags: Int[np.ndarray, " words"]


def crf_of(model: nn.Module) -> CRF | None:
    """Return the CRF of a tagger, if it has one."""
    crf = getattr(model, "crf", None)
    return crf if isinstance(crf, CRF) else None


def log_probabilities(model: nn.Module, logits: Logits, is_word: IsWord) -> Float[Tensor, "batch words tags"]:
    """Return log P(tag | sentence) of every word, with the words of each sentence moved to the front."""
    word_logits, crf = words_first(logits, is_word).float(), crf_of(model)
    return word_logits.log_softmax(dim=-1) if crf is None else crf.log_marginals(word_logits, _words(is_word))


def decode_tags(model: nn.Module, logits: Logits, is_word: IsWord) -> list[DecodedTags]:
    """Decode the tags of every sentence of a batch, each of which must have a word."""
    log_probs, crf = log_probabilities(model, logits, is_word), crf_of(model)
    best = (
        log_probs.argmax(dim=-1)
        if crf is None
        else crf.viterbi_decode(words_first(logits, is_word).float(), _words(is_word))
    )
    lengths = is_word.sum(dim=1).tolist()
    sentences = zip(log_probs.cpu().numpy(), best.cpu().numpy(), lengths, strict=True)
    return [DecodedTags(probs[:length], tags[:length]) for probs, tags, length in sentences]


def _words(is_word: IsWord) -> Bool[Tensor, "batch words"]:
    return words_first(is_word, is_word)

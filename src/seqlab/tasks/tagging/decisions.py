"""From the logits of a tagger to tags: each word for itself, or along a chain for the sentence as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from seqlab.blocks.crf import CRF
from seqlab.losses.cross_entropy import token_cross_entropy

Logits = Float[Tensor, "batch time tags"]
IsWord = Bool[Tensor, "batch time"]
"""The steps that answer for a word; among them may stand others, the first pieces of words."""


@dataclass(frozen=True)
class Decided:
    """The tags of one sentence, and the probabilities behind them."""

    log_probs: Float[np.ndarray, "words tags"]
    tags: Int[np.ndarray, " words"]


def chain_of(model: nn.Module) -> CRF | None:
    """The chain that decides about a tagger's tags, if it has one."""
    chain = getattr(model, "chain", None)
    return chain if isinstance(chain, CRF) else None


def tag_loss(
    model: nn.Module, logits: Logits, targets: Int[Tensor, "batch time"], is_word: IsWord, *, smoothing: float
) -> Float[Tensor, ""]:
    """-log P(tags | words), summed over the words or, with a chain, over the sentences."""
    chain = chain_of(model)
    if chain is None:
        return token_cross_entropy(logits, targets, is_word, label_smoothing=smoothing)
    return chain.loss(
        words_first(logits, is_word).float(), words_first(targets, is_word), _words(is_word)
    ).sum()


def log_probabilities(model: nn.Module, logits: Logits, is_word: IsWord) -> Float[Tensor, "batch words tags"]:
    """log P(tag | sentence) of every word, the words of each sentence first."""
    own, chain = words_first(logits, is_word).float(), chain_of(model)
    return own.log_softmax(dim=-1) if chain is None else chain.log_marginals(own, _words(is_word))


def decide(model: nn.Module, logits: Logits, is_word: IsWord) -> list[Decided]:
    """The tags of every sentence of a batch. Each must have a word."""
    log_probs, chain = log_probabilities(model, logits, is_word), chain_of(model)
    best = (
        log_probs.argmax(dim=-1)
        if chain is None
        else chain.viterbi_decode(words_first(logits, is_word).float(), _words(is_word))
    )
    lengths = is_word.sum(dim=1).tolist()
    sentences = zip(log_probs.cpu().numpy(), best.cpu().numpy(), lengths, strict=True)
    return [Decided(probs[:length], tags[:length]) for probs, tags, length in sentences]


def words_first(
    values: Shaped[Tensor, "batch time *rest"], is_word: IsWord
) -> Shaped[Tensor, "batch words *rest"]:
    """The values at words, moved to the front in their order; as many steps as the longest sentence has
    words.

    >>> words_first(torch.tensor([[5, 6, 7]]), torch.tensor([[False, True, True]])).tolist()
    [[6, 7]]
    """
    most = int(is_word.sum(dim=1).max())
    if bool((is_word[:, :-1] >= is_word[:, 1:]).all()):  # in every sentence the words stand first already
        return values[:, :most]
    order = torch.argsort((~is_word).byte(), dim=1, stable=True)[:, :most]  # (batch, words)
    return values[torch.arange(len(values), device=values.device).unsqueeze(1), order]


def _words(is_word: IsWord) -> Bool[Tensor, "batch words"]:
    return words_first(is_word, is_word)

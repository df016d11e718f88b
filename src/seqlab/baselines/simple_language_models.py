"""The language models that a network has to beat, from the simplest on: tokens alone, pairs of tokens, longer
pieces of text.

    unigram    p(w_t)                               how frequent a token is, whatever stands before it
    bigram     p(w_t | w_{t-1})                     the Markov model: the chain rule with a first-order assumption
    n-gram     p(w_t | w_{t-n+1}, …, w_{t-1})       with the n that foresees held-out text best

All three are smoothed in the same way (ngram.py).
"""

from __future__ import annotations

import numpy as np

from seqlab.baselines.ngram import NGram, Tokens

MAX_ORDER = 10
HELD_OUT_PARTS = 10
"""One part in so many, at the end of the stream, chooses the order."""
ORDER_SELECTION_TOKENS = 500_000
"""Tokens of the end of the stream on which the order is chosen: a second or two for characters."""


def simple_language_models(tokens: Tokens, vocabulary_size: int) -> dict[str, NGram]:
    """The three models by their names, from the simplest to the best, learned from a stream.

    A stream that chooses order 1 or 2 has no third.
    """
    order = best_order(tokens[-ORDER_SELECTION_TOKENS:], vocabulary_size)
    return {ngram_name(n): NGram.fit(tokens, vocabulary_size, order=n) for n in sorted({1, 2, order})}


def best_order(tokens: Tokens, vocabulary_size: int) -> int:
    """The order whose model, learned from the beginning of a stream, foresees its end best: raised until two
    more tokens do not help.
    """
    split = len(tokens) - max(1, len(tokens) // HELD_OUT_PARTS)
    if split < 1:
        return 1
    best, lowest = 1, np.inf
    for order in range(1, min(MAX_ORDER, split) + 1):
        nats = mean_nats(NGram.fit(tokens[:split], vocabulary_size, order=order), tokens[split:])
        if nats < lowest:
            best, lowest = order, nats
        elif order > best + 1:
            break
    return best


def mean_nats(model: NGram, tokens: Tokens) -> float:
    """The mean surprise over a stream."""
    return -float(model.log_probs(tokens).mean())


def ngram_name(order: int) -> str:
    """
    >>> [ngram_name(order) for order in (1, 2, 3)]
    ['unigram', 'bigram', '3-gram']
    """
    return {1: "unigram", 2: "bigram"}.get(order, f"{order}-gram")

"""The language models that a network has to beat, from the simplest on: tokens alone, pairs of tokens, longer pieces of text.

    unigram    p(w_t)                               how frequent a token is, whatever stands before it
    bigram     p(w_t | w_{t-1})                     the Markov model: the chain rule with a first-order assumption
    n-gram     p(w_t | w_{t-n+1}, …, w_{t-1})       with the n that foresees held-out text best

All three are smoothed in the same way (ngram.py).
"""

from __future__ import annotations

import numpy as np

from seqlab.baselines.ngram import NGram, Tokens

LONGEST = 10
HELD_OUT = 10
"""One part in so many, at the end of the stream, chooses the order."""
CHOOSING = 500_000
"""Tokens of the end of the stream on which the order is chosen: a second or two for characters."""


def simple_language_models(tokens: Tokens, vocabulary_size: int) -> dict[str, NGram]:
    """The three models by their names, from the simplest to the best, learned from a stream. A stream that chooses order 1 or 2 has no third."""
    order = best_order(tokens[-CHOOSING:], vocabulary_size)
    return {name_of(wanted): NGram.fit(tokens, vocabulary_size, order=wanted) for wanted in sorted({1, 2, order})}


def best_order(tokens: Tokens, vocabulary_size: int) -> int:
    """The order whose model, learned from the beginning of a stream, foresees its end best: raised until two more tokens do not help."""
    cut = len(tokens) - max(1, len(tokens) // HELD_OUT)
    if cut < 1:
        return 1
    best, lowest = 1, np.inf
    for order in range(1, min(LONGEST, cut) + 1):
        nats = mean_nats(NGram.fit(tokens[:cut], vocabulary_size, order=order), tokens[cut:])
        if nats < lowest:
            best, lowest = order, nats
        elif order > best + 1:
            break
    return best


def mean_nats(model: NGram, tokens: Tokens) -> float:
    """The mean surprise over a stream."""
    return -float(model.log_probs(tokens).mean())


def name_of(order: int) -> str:
    """
    >>> [name_of(order) for order in (1, 2, 3)]
    ['unigram', 'bigram', '3-gram']
    """
    return {1: "unigram", 2: "bigram"}.get(order, f"{order}-gram")

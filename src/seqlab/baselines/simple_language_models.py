"""The language models that a network must beat, starting with the simplest: single tokens, pairs of tokens, longer
n-grams.

    unigram    p(w_t)                               how frequent a token is, regardless of context
    bigram     p(w_t | w_{t-1})                     the Markov model: the chain rule with a first-order assumption
    n-gram     p(w_t | w_{t-n+1}, …, w_{t-1})       with the n that predicts held-out text best

All three use the same smoothing (ngram.py).
"""

from __future__ import annotations

import numpy as np

from seqlab.baselines.ngram import NGram, Tokens

MAX_ORDER = 10
HELD_OUT_PARTS = 10
"""The order is chosen on 1 / this fraction of the stream, at its end."""
ORDER_SELECTION_TOKENS = 500_000
"""Maximum number of tokens at the end of the stream on which the order is chosen: a second or two for characters."""


def simple_language_models(tokens: Tokens, vocabulary_size: int) -> dict[str, NGram]:
    """The three models by name, from the simplest to the best, fitted on a stream.

    If the chosen order is 1 or 2, there is no third model.
    """
    order = best_order(tokens[-ORDER_SELECTION_TOKENS:], vocabulary_size)
    return {ngram_name(n): NGram.fit(tokens, vocabulary_size, order=n) for n in sorted({1, 2, order})}


def best_order(tokens: Tokens, vocabulary_size: int) -> int:
    """The order whose model, fitted on the beginning of a stream, best predicts its end: raised until two
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
    """The mean surprisal over a stream, in nats."""
    return -float(model.log_probs(tokens).mean())


def ngram_name(order: int) -> str:
    """
    >>> [ngram_name(order) for order in (1, 2, 3)]
    ['unigram', 'bigram', '3-gram']
    """
    return {1: "unigram", 2: "bigram"}.get(order, f"{order}-gram")

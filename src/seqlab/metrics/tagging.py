"""Intervals of token scores over sentences: the words of one sentence are not independent of each other."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.bootstrap import Draws, Interval, interval, ratio_interval
from seqlab.metrics.classification import scores_from_sums

Tokens = Int[np.ndarray, " tokens"]


def by_sentence(values: Float[np.ndarray, " tokens"] | Bool[np.ndarray, " tokens"], sentences: Tokens) -> Float[np.ndarray, " sentences"]:
    """The sum over each sentence; `sentences` has the number of each token's sentence.

    >>> by_sentence(np.array([True, False, True]), np.array([0, 0, 1])).tolist()
    [1.0, 1.0]
    """
    return np.bincount(sentences, weights=values.astype(np.float64))


def share_interval(values: Float[np.ndarray, " tokens"] | Bool[np.ndarray, " tokens"], sentences: Tokens) -> Interval:
    """The interval of a mean over tokens, when sentences are drawn. Sentences without a token play no part."""
    sizes = np.bincount(sentences)
    return ratio_interval(by_sentence(values, sentences)[sizes > 0], sizes[sizes > 0].astype(np.float64))


def token_macro_f1_interval(targets: Tokens, predicted: Tokens, sentences: Tokens, *, num_classes: int) -> Interval:
    """The interval of the macro-F1 over tokens, when sentences are drawn."""
    num_sentences = int(sentences.max()) + 1
    counts = np.zeros((3, num_sentences, num_classes))  # of each class in each sentence: right, predicted, present
    np.add.at(counts[0], (sentences, targets), targets == predicted)
    np.add.at(counts[1], (sentences, predicted), 1)
    np.add.at(counts[2], (sentences, targets), 1)

    def macro_f1(draws: Draws) -> Float[np.ndarray, " resamples"]:
        times = np.stack([np.bincount(draw, minlength=num_sentences) for draw in draws]).astype(np.float64)  # (resamples, sentences)
        right, found, present = (times @ counts).astype(np.int64)  # products of floats are far faster, and exact for counts
        return scores_from_sums(right, predicted=found, present=present).f1.mean(axis=1)

    return interval(macro_f1, num_sentences)

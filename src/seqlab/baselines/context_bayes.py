"""Naive Bayes on a word and its neighbors: out-of-sample tag probabilities for words that were trained on.

    log p(tag | x) = log p(tag) + Σ_f log p(x_f | tag) + const,   f: the word, its ending, the word before, the word after

Tags of neighbors are not used, so a wrong tag misleads nothing but its own word's fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.cross_validation import FOLDS

SUFFIX = 3
SMOOTHING = 0.1
BOUNDARY = ""
"""The neighbor of the first and of the last word."""


def context_features(sentences: Sequence[Sequence[str]]) -> Int[np.ndarray, "words features"]:
    """Ids of the features of all words end to end."""
    rows = [
        (word, word[-SUFFIX:], before, after)
        for sentence in sentences
        for lowered in [[word.lower() for word in sentence]]
        for word, before, after in zip(
            lowered, [BOUNDARY, *lowered[:-1]], [*lowered[1:], BOUNDARY], strict=True
        )
    ]
    ids = [_number(column) for column in zip(*rows, strict=True)]
    return np.array(ids, np.int64).T if rows else np.zeros((0, 4), np.int64)


def _number(values: Sequence[str]) -> list[int]:
    """
    >>> _number(("a", "b", "a"))
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def cross_validated_tags(
    features: Int[np.ndarray, "words features"],
    tags: Int[np.ndarray, " words"],
    sentences: Int[np.ndarray, " words"],
    *,
    num_tags: int,
) -> Float[np.ndarray, "words tags"]:
    """Log-probabilities for every word by a fit on the sentences of the other folds.

    sentences: the number of the sentence of each word.
    """
    folds = sentences % FOLDS
    log_probs = np.zeros((len(tags), num_tags))
    for fold in np.unique(folds):
        in_fold = folds == fold
        log_probs[in_fold] = _score(features[~in_fold], tags[~in_fold], features[in_fold], num_tags=num_tags)
    return log_probs


def _score(
    known: Int[np.ndarray, "known features"],
    tags: Int[np.ndarray, " known"],
    unknown: Int[np.ndarray, "unknown features"],
    *,
    num_tags: int,
) -> Float[np.ndarray, "unknown tags"]:
    tag_counts = np.bincount(tags, minlength=num_tags).astype(np.float64)
    logits = np.tile(np.log(tag_counts + SMOOTHING), (len(unknown), 1))
    for column in range(known.shape[1]):
        size = int(max(known[:, column].max(initial=-1), unknown[:, column].max(initial=-1))) + 1
        counts = np.bincount(known[:, column] * num_tags + tags, minlength=size * num_tags)
        table = counts.reshape(size, num_tags) + SMOOTHING
        logits += np.log(table[unknown[:, column]] / (tag_counts + SMOOTHING * size))
    normalized: Float[np.ndarray, "unknown tags"] = logits - np.logaddexp.reduce(
        logits, axis=1, keepdims=True
    )
    return normalized

"""Class weights for imbalanced data, with which all classes count equally."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Integer

from seqlab.core.errors import listed
from seqlab.pages.numbers import count_of

SKEWED = 10
"""Ratio of the largest to the smallest class above which a note is shown."""


def balanced_weights(counts: Integer[np.ndarray, " classes"]) -> Float[np.ndarray, " classes"]:
    """weight = N / (classes · examples of the class): the mean weight over all examples is 1, and the weights
    of each class sum to the same.

    >>> balanced_weights(np.array([6, 2])).tolist()
    [0.6666666666666666, 2.0]
    """
    weights: Float[np.ndarray, " classes"] = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return weights


def about_counts(
    names: Sequence[str], counts: Integer[np.ndarray, " classes"], *, weights: str
) -> Iterator[str]:
    """Yield notes about the sizes of the classes."""
    if none := [name for name, count in zip(names, counts.tolist(), strict=True) if not count]:
        have = "class has" if len(none) == 1 else "classes have"
        yield (f"{len(none):,} {have} no examples in the sampled rows and cannot be learned: {listed(none)}")
    if alone := [name for name, count in zip(names, counts.tolist(), strict=True) if count == 1]:
        are = "class has" if len(alone) == 1 else "classes have"
        yield f"{len(alone):,} {are} one example and will hardly be learned: {listed(alone)}"
    largest, smallest = int(counts.argmax()), int(np.where(counts, counts, counts.max()).argmin())
    if weights == "none" and counts[largest] > SKEWED * counts[smallest]:
        yield (
            f"{names[largest]!r} has {count_of(int(counts[largest]), 'row')} and {names[smallest]!r} {counts[smallest]:,}; "
            "to weight all classes equally: classification.class_weights=balanced"
        )

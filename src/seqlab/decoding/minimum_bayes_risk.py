"""Minimum Bayes risk decoding: choose the candidate that is most similar to all others, not the most
likely one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from seqlab.decoding.hypothesis import Hypothesis

Target = TypeVar("Target")
Utility = Callable[[Target, Target], float]
"""How good a target is where the reference is right; higher is better.

Both are whatever the candidates are: texts, or lists of tokens.
"""
MAX_NGRAM_ORDER = 4


def expected_utilities(
    candidates: Sequence[Target], utility: Utility[Target], *, weights: Sequence[float] | None = None
) -> list[float]:
    """U(c) = Σ_r w_r utility(c, r) / Σ_r w_r, for every candidate against all of them, itself included.

    The candidate with the highest U has the lowest expected loss, if the candidates represent the network's
    distribution: samples do with equal weights, an n-best list with the probabilities as weights. Paper:
    Kumar and Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation"; with samples:
    Eikema and Aziz 2020, arXiv:2005.10283.
    """
    shares = list(weights) if weights is not None else [1.0] * len(candidates)
    total = sum(shares)
    return [
        sum(share * utility(candidate, other) for other, share in zip(candidates, shares, strict=True))
        / total
        for candidate in candidates
    ]


def minimum_risk_index(
    candidates: Sequence[Target], utility: Utility[Target], *, weights: Sequence[float] | None = None
) -> int:
    """The index of the candidate with the highest expected utility; ties go to the first."""
    expected = expected_utilities(candidates, utility, weights=weights)
    return max(range(len(expected)), key=lambda index: expected[index])


def hypothesis_probabilities(hypotheses: Sequence[Hypothesis]) -> list[float]:
    """Weights of an n-best list: P(hypothesis), normalized to a sum of 1.

    >>> hypothesis_probabilities([Hypothesis([], [math.log(0.6)], 0.0, True), Hypothesis([], [math.log(0.2)], 0.0, True)])
    [0.75, 0.25]
    """
    highest = max(hypothesis.log_prob for hypothesis in hypotheses)
    weights = [math.exp(hypothesis.log_prob - highest) for hypothesis in hypotheses]
    return [round(weight / sum(weights), 15) for weight in weights]


def ngram_overlap(target: Sequence[int], reference: Sequence[int]) -> float:
    """A utility on tokens: the n-gram F1 of both, averaged over all n = 1 … 4 for which at least one of them
    has n-grams.

    >>> ngram_overlap([1, 2, 3], [1, 2, 3]), ngram_overlap([], []), ngram_overlap([1, 2], [2, 1])
    (1.0, 1.0, 0.5)
    """
    overlaps = []
    for n in range(1, MAX_NGRAM_ORDER + 1):
        target_ngrams, reference_ngrams = (
            Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))
            for tokens in (target, reference)
        )
        if target_ngrams or reference_ngrams:
            overlaps.append(
                2
                * (target_ngrams & reference_ngrams).total()
                / (target_ngrams.total() + reference_ngrams.total())
            )
    return sum(overlaps) / len(overlaps) if overlaps else 1.0

"""Word vectors by counting: which words stand near each other, brought to few dimensions. No network, no random order, no epochs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import DataError
from seqlab.tokens.vocabulary import Vocabulary
from seqlab.tokens.word_vectors import WordVectors

EXACT_UP_TO = 1500
"""Words up to which the decomposition is exact; larger tables are approximated."""
ROWS_AT_ONCE = 500
WORDS_AT_ONCE = 500_000
EXTRA, ROUNDS = 24, 3
"""Directions beyond the wanted ones, and rounds, with which the largest directions of a matrix are found."""


@dataclass(frozen=True)
class Counting:
    """How pairs are counted and weighed."""

    width: int = 100
    window: int = 5
    """Words to each side that count; the next one counts fully, the last of them 1 / window."""
    min_count: int = 5
    size: int = 20_000
    """Words that get a vector, most frequent first."""
    smoothing: float = 0.75
    """The power of the frequencies of contexts: rare ones would have too large a say."""
    keep: float = 0.5
    """The power of the singular values: 0 makes all directions equally long."""


def count_vectors(sentences: Iterable[Sequence[str]], counting: Counting | None = None) -> WordVectors:
    """Positive pointwise mutual information of words and the words around them, decomposed.

        PPMI_ij = max(0, log P(i, j) / (P(i) P_α(j)))      P_α(j) ∝ count(j)^α
        PPMI ≈ U S Vᵀ,   vectors = U S^keep

    Paper: Levy, Goldberg, Dagan 2015, "Improving Distributional Similarity with Lessons Learned from Word Embeddings", TACL 3.
    """
    counting = counting or Counting()
    lines = [list(sentence) for sentence in sentences]
    vocabulary = Vocabulary.count((word for line in lines for word in line), specials=(), size=counting.size, min_count=counting.min_count)
    num_words = len(vocabulary)
    if num_words < 2:
        raise DataError(f"{num_words} words stand in the text {counting.min_count} times or more; vectors need at least two.", cure="Give more text.")
    rows, columns, counts = _pairs([[vocabulary.ids.get(word, -1) for word in line] for line in lines], num_words, counting.window)
    matrix = _Sparse(rows, columns, _information(rows, columns, counts, num_words, counting.smoothing), num_words)
    width = min(counting.width, num_words)
    left, strengths = _exact(matrix, width) if num_words <= EXACT_UP_TO else _largest(matrix, width)
    return WordVectors(vocabulary.pieces, left * strengths**counting.keep)


def _pairs(lines: list[list[int]], num_words: int, window: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows, columns and weighted counts of all pairs within a line, sorted by row. Unknown words (-1) take their place and count for nothing."""
    keys, weights = np.empty(0, np.int64), np.empty(0)
    start = 0
    while start < len(lines):
        end, total = start, 0
        while end < len(lines) and total < WORDS_AT_ONCE:
            total += len(lines[end])
            end += 1
        part = _pairs_of(lines[start:end], num_words, window)
        keys, weights = _joined([keys, part[0]], [weights, part[1]])
        start = end
    return keys // num_words, keys % num_words, weights


def _pairs_of(lines: list[list[int]], num_words: int, window: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    ids = np.fromiter((word for line in lines for word in line), np.int64)
    owner = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    keys, weights = [np.empty(0, np.int64)], [np.empty(0)]
    for distance in range(1, window + 1):
        one, other = ids[:-distance], ids[distance:]
        real = (owner[:-distance] == owner[distance:]) & (one >= 0) & (other >= 0)
        found, counts = np.unique(one[real] * num_words + other[real], return_counts=True)
        weight = counts * (window - distance + 1) / window
        keys += [found, found % num_words * num_words + found // num_words]  # each of the two stands beside the other
        weights += [weight, weight]
    return _joined(keys, weights)


def _joined(keys: list[NDArray[np.int64]], weights: list[NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    together, places = np.unique(np.concatenate(keys), return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(places, weights=np.concatenate(weights), minlength=len(together)).astype(np.float64)
    return together, sums


def _information(
    rows: NDArray[np.int64], columns: NDArray[np.int64], counts: NDArray[np.float64], num_words: int, smoothing: float
) -> NDArray[np.float32]:
    words = np.bincount(rows, weights=counts, minlength=num_words)
    contexts = np.bincount(columns, weights=counts, minlength=num_words) ** smoothing
    information = np.log(counts) - np.log(words[rows]) - np.log(contexts[columns] / contexts.sum())
    return np.maximum(information, 0).astype(np.float32)


class _Sparse:
    """A symmetric-shaped matrix by its entries, multiplied some rows at a time so that it never stands whole in memory."""

    def __init__(self, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float32], size: int) -> None:
        self.rows, self.columns, self.values, self.size = rows, columns, values, size

    def part(self, start: int, end: int) -> NDArray[np.float32]:
        first, last = np.searchsorted(self.rows, [start, end])
        dense = np.zeros((end - start, self.size), np.float32)
        dense[self.rows[first:last] - start, self.columns[first:last]] = self.values[first:last]
        return dense

    def times(self, other: NDArray[np.float32], *, turned: bool = False) -> NDArray[np.float32]:
        """A B, or with `turned` Aᵀ B."""
        product = np.zeros((self.size, other.shape[1]), np.float32)
        for start in range(0, self.size, ROWS_AT_ONCE):
            end = min(start + ROWS_AT_ONCE, self.size)
            if turned:
                product += self.part(start, end).T @ other[start:end]
            else:
                product[start:end] = self.part(start, end) @ other
        return product


def _exact(matrix: _Sparse, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    left, strengths, _ = np.linalg.svd(matrix.part(0, matrix.size), full_matrices=False)
    return left[:, :width], strengths[:width]


def _largest(matrix: _Sparse, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The largest directions of a matrix from its products with a few: random ones, turned towards the large ones in each round.

    Paper: Halko, Martinsson, Tropp 2011, "Finding structure with randomness", SIAM Review 53, algorithms 4.4 and 5.1.
    """
    some = np.random.default_rng(0).standard_normal((matrix.size, min(width + EXTRA, matrix.size))).astype(np.float32)
    basis = np.linalg.qr(matrix.times(some))[0]
    for _ in range(ROUNDS):
        basis = np.linalg.qr(matrix.times(basis, turned=True))[0]
        basis = np.linalg.qr(matrix.times(basis))[0]
    small = matrix.times(basis, turned=True).T  # (directions, words) = basisᵀ A
    left, strengths, _ = np.linalg.svd(small, full_matrices=False)
    return (basis @ left)[:, :width], strengths[:width]

"""Count-based word vectors: co-occurrence counts, reduced to a few dimensions.

No network, no random order, no epochs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import DataError
from seqlab.tokens.vocabulary import Vocabulary
from seqlab.tokens.word_vectors import WordVectors

MAX_EXACT_WORDS = 1500
"""Maximum number of words for an exact decomposition; larger tables are approximated."""
ROWS_PER_CHUNK = 500
WORDS_PER_CHUNK = 500_000
OVERSAMPLING, POWER_ITERATIONS = 24, 3
"""Oversampling and number of power iterations of the randomized SVD."""


@dataclass(frozen=True)
class CountVectorSettings:
    """How pairs are counted and weighted."""

    vector_size: int = 100
    window: int = 5
    """Context words on each side; the nearest counts 1, the farthest 1 / window."""
    min_count: int = 5
    max_vocabulary_size: int = 20_000
    """Maximum number of words that get a vector, most frequent first."""
    context_smoothing: float = 0.75
    """Exponent of the context frequencies, so that rare contexts do not dominate."""
    singular_value_power: float = 0.5
    """Exponent of the singular values; 0 gives all directions the same length."""


def fit_count_vectors(
    sentences: Iterable[Sequence[str]], settings: CountVectorSettings | None = None
) -> WordVectors:
    """Positive pointwise mutual information of words and their context words, factorized.

        PPMI_ij = max(0, log P(i, j) / (P(i) P_α(j)))      P_α(j) ∝ count(j)^α
        PPMI ≈ U S Vᵀ,   vectors = U S^keep

    Paper: Levy, Goldberg, Dagan 2015, "Improving Distributional Similarity with Lessons Learned from Word
    Embeddings", TACL 3.
    """
    settings = settings or CountVectorSettings()
    lines = [list(sentence) for sentence in sentences]
    vocabulary = Vocabulary.count(
        (word for line in lines for word in line),
        specials=(),
        size=settings.max_vocabulary_size,
        min_count=settings.min_count,
    )
    num_words = len(vocabulary)
    if num_words < 2:
        raise DataError(
            f"only {num_words} words occur {settings.min_count} times or more in the text; computing"
            " vectors needs at least two.",
            cure="Provide more text.",
        )
    rows, columns, counts = _count_pairs(
        [[vocabulary.ids.get(word, -1) for word in line] for line in lines], num_words, settings.window
    )
    matrix = _SparseMatrix(
        rows, columns, _positive_pmi(rows, columns, counts, num_words, settings.context_smoothing), num_words
    )
    width = min(settings.vector_size, num_words)
    left, singular_values = (
        _exact_svd(matrix, width) if num_words <= MAX_EXACT_WORDS else _randomized_svd(matrix, width)
    )
    return WordVectors(vocabulary.pieces, left * singular_values**settings.singular_value_power)


def _count_pairs(
    lines: list[list[int]], num_words: int, window: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows, columns and weighted counts of all pairs within a line, sorted by row.

    Unknown words (-1) keep their position but are not counted.
    """
    keys, weights = np.empty(0, np.int64), np.empty(0)
    start = 0
    while start < len(lines):
        end, total = start, 0
        while end < len(lines) and total < WORDS_PER_CHUNK:
            total += len(lines[end])
            end += 1
        part = _count_pairs_in(lines[start:end], num_words, window)
        keys, weights = _merge_counts([keys, part[0]], [weights, part[1]])
        start = end
    return keys // num_words, keys % num_words, weights


def _count_pairs_in(
    lines: list[list[int]], num_words: int, window: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    ids = np.fromiter((word for line in lines for word in line), np.int64)
    owner = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    keys, weights = [np.empty(0, np.int64)], [np.empty(0)]
    for distance in range(1, window + 1):
        words, contexts = ids[:-distance], ids[distance:]
        is_pair = (owner[:-distance] == owner[distance:]) & (words >= 0) & (contexts >= 0)
        pairs, counts = np.unique(words[is_pair] * num_words + contexts[is_pair], return_counts=True)
        weight = counts * (window - distance + 1) / window
        keys += [
            pairs,
            pairs % num_words * num_words + pairs // num_words,
        ]  # each is in the context of the other
        weights += [weight, weight]
    return _merge_counts(keys, weights)


def _merge_counts(
    keys: list[NDArray[np.int64]], weights: list[NDArray[np.float64]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    unique_keys, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(
        inverse, weights=np.concatenate(weights), minlength=len(unique_keys)
    ).astype(np.float64)
    return unique_keys, sums


def _positive_pmi(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    counts: NDArray[np.float64],
    num_words: int,
    smoothing: float,
) -> NDArray[np.float32]:
    words = np.bincount(rows, weights=counts, minlength=num_words)
    contexts = np.bincount(columns, weights=counts, minlength=num_words) ** smoothing
    pmi = np.log(counts) - np.log(words[rows]) - np.log(contexts[columns] / contexts.sum())
    return np.maximum(pmi, 0).astype(np.float32)


class _SparseMatrix:
    """A symmetric-shaped matrix by its entries, multiplied a few rows at a time so that it is never dense
    in memory.
    """

    def __init__(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float32], size: int
    ) -> None:
        self.rows, self.columns, self.values, self.size = rows, columns, values, size

    def dense_rows(self, start: int, end: int) -> NDArray[np.float32]:
        first, last = np.searchsorted(self.rows, [start, end])
        dense = np.zeros((end - start, self.size), np.float32)
        dense[self.rows[first:last] - start, self.columns[first:last]] = self.values[first:last]
        return dense

    def matmul(self, contexts: NDArray[np.float32], *, transposed: bool = False) -> NDArray[np.float32]:
        """A B, or with `transposed` Aᵀ B."""
        product = np.zeros((self.size, contexts.shape[1]), np.float32)
        for start in range(0, self.size, ROWS_PER_CHUNK):
            end = min(start + ROWS_PER_CHUNK, self.size)
            if transposed:
                product += self.dense_rows(start, end).T @ contexts[start:end]
            else:
                product[start:end] = self.dense_rows(start, end) @ contexts
        return product


def _exact_svd(matrix: _SparseMatrix, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    left, singular_values, _ = np.linalg.svd(matrix.dense_rows(0, matrix.size), full_matrices=False)
    return left[:, :width], singular_values[:width]


def _randomized_svd(matrix: _SparseMatrix, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Truncated SVD of a matrix from its products with a few random vectors, refined by power
    iterations.

    Paper: Halko, Martinsson, Tropp 2011, "Finding structure with randomness", SIAM Review 53, algorithms 4.4
    and 5.1.
    """
    random_directions = (
        np.random.default_rng(0)
        .standard_normal((matrix.size, min(width + OVERSAMPLING, matrix.size)))
        .astype(np.float32)
    )
    basis = np.linalg.qr(matrix.matmul(random_directions))[0]
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(matrix.matmul(basis, transposed=True))[0]
        basis = np.linalg.qr(matrix.matmul(basis))[0]
    projected = matrix.matmul(basis, transposed=True).T  # (directions, words) = basisᵀ A
    left, singular_values, _ = np.linalg.svd(projected, full_matrices=False)
    return (basis @ left)[:, :width], singular_values[:width]

"""Nearest neighbors of a word by cosine similarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqlab.tokens.word_vectors import WordVectors


def nearest_words(table: WordVectors, word: str, *, top: int = 10) -> list[tuple[str, float]]:
    """The words with the highest cosine similarity to a word, and their similarities, nearest first; the word
    itself is excluded.

    cos(a, b) = a · b / (‖a‖ ‖b‖)
    """
    return nearest_to_vector(table, table.vector(word), top=top, exclude=[table.place(word)])


def nearest_to_vector(
    table: WordVectors, vector: np.ndarray, *, top: int, exclude: Sequence[int] = ()
) -> list[tuple[str, float]]:
    """The words nearest to any vector; the rows `exclude` are skipped."""
    length = float(np.linalg.norm(vector))
    cosines = table.units @ (vector / length if length > 0 else vector).astype(np.float32)  # (words,)
    return top_words(table, cosines, top=top, exclude=exclude)


def top_words(
    table: WordVectors, scores: np.ndarray, *, top: int, exclude: Sequence[int] = ()
) -> list[tuple[str, float]]:
    """The words with the highest scores; ties go to the earlier word."""
    scores = scores.copy()
    scores[list(exclude)] = -np.inf
    best = np.argsort(-scores, kind="stable")[: min(top, len(scores) - len(set(exclude)))]
    return [(table.words[index], float(scores[index])) for index in best]

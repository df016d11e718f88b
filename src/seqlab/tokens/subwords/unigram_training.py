"""Training of a unigram tokenizer: many candidates, expectation-maximization, and the least useful
pruned.

Implemented here because the engine's trainer gives different tokens every time it
is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.counting import frequent_characters
from seqlab.tokens.subwords.lattice import Lattice
from seqlab.tokens.subwords.substrings import Substrings

LONGEST_PIECE = 16
LONGEST_WORD = 24  # probabilities of longer words would underflow, so they are split
MOST_WORDS = 100_000
SEEDS_PER_PIECE = 10
KEPT_PER_ROUND = 0.75
NUM_UPDATES = 2  # of the probabilities, in every round

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def learn_unigram(words: Mapping[str, int], *, size: int) -> list[tuple[str, float]]:
    """At most `size` tokens with their log-probabilities, most probable first; half of them may be single
    characters.

        expected(piece) = Σ_words count(word) · Σ_cuts P(cut | word) · times(piece in cut)     E step, forward-backward
        P(piece)        = expected(piece) / Σ expected                                         M step
        loss(piece)     = expected(piece) · (log P(piece) - log P(best cut of it into others))

    Each round keeps the 75% with the largest loss, and always the single characters.
    Paper: Kudo 2018, "Subword Regularization", arXiv:1804.10959, section 3.2.
    """
    counts = _parts_of(words, frequent_characters(words, most=max(1, size // 2)))
    if not counts:
        return []
    substrings = Substrings(counts, longest=LONGEST_PIECE)
    chosen = _seeds(substrings, most=SEEDS_PER_PIECE * size)
    piece_of = np.full(len(substrings.length), -1, dtype=np.int64)
    piece_of[chosen] = np.arange(len(chosen))
    lengths, expected = substrings.length[chosen], substrings.times[chosen]
    texts = Lattice(substrings.word_lengths, substrings.edges_in_words(piece_of), num_pieces=len(chosen))
    inner = Lattice(lengths, substrings.edges_in_pieces(chosen, piece_of), num_pieces=len(chosen))
    alive, log_probs = _prune(
        texts,
        inner,
        expected,
        lengths == 1,
        times=np.array(list(counts.values()), dtype=np.float64),
        size=size,
    )
    pieces = [
        (substrings[int(chosen[place])], float(log_probs[place])) for place in np.flatnonzero(alive).tolist()
    ]
    return sorted(pieces, key=lambda scored: (-scored[1], scored[0]))


def _prune(
    texts: Lattice,
    inner: Lattice,
    expected: Floats,
    is_character: NDArray[np.bool_],
    *,
    times: Floats,
    size: int,
) -> tuple[NDArray[np.bool_], Floats]:
    """Alternate training and pruning until `size` tokens are left: which ones, and their log
    probabilities.
    """
    alive = np.ones(len(expected), dtype=bool)
    while True:
        for _ in range(NUM_UPDATES):
            expected = _at_least(texts.expected_counts(_probabilities(expected, alive), times), is_character)
            alive &= expected > 0
        if alive.sum() <= size:
            return alive, _log_probs(expected, alive)
        loss = _loss(inner, expected, alive)
        loss[is_character] = np.inf
        kept = np.argsort(-loss, kind="stable")[: max(size, int(alive.sum() * KEPT_PER_ROUND))]
        alive &= np.isin(np.arange(len(alive)), kept)


def _loss(inner: Lattice, expected: Floats, alive: NDArray[np.bool_]) -> Floats:
    """The drop in log-likelihood without a token; 0 for tokens that are already pruned."""
    log_probs = _log_probs(expected, alive)
    without = inner.best_log_probs(log_probs)
    loss: Floats = np.full(len(alive), -np.inf)
    loss[alive] = expected[alive] * (log_probs[alive] - without[alive])
    return loss


def _log_probs(expected: Floats, alive: NDArray[np.bool_]) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(_probabilities(expected, alive))


def _probabilities(expected: Floats, alive: NDArray[np.bool_]) -> Floats:
    kept = np.where(alive, expected, 0.0)
    return kept / max(kept.sum(), 1e-300)


def _at_least(expected: Floats, is_character: NDArray[np.bool_]) -> Floats:
    """A token with an expected count below 0.5 is pruned; characters stay, or some words could not be segmented."""
    return np.where(is_character, np.maximum(expected, 0.5), np.where(expected < 0.5, 0.0, expected))


def _parts_of(words: Mapping[str, int], characters: set[str]) -> dict[str, int]:
    """The most frequent words, split at unknown characters and into parts of limited length."""
    counts: Counter[str] = Counter()
    for word in sorted(words, key=lambda word: (-words[word], word))[:MOST_WORDS]:
        known = "".join(character if character in characters else "\x00" for character in word)
        for run in filter(None, known.split("\x00")):
            for start in range(0, len(run), LONGEST_WORD):
                counts[run[start : start + LONGEST_WORD]] += words[word]
    return dict(counts)


def _seeds(substrings: Substrings, *, most: int) -> Places:
    """The initial candidates: all characters, and the longer substrings that cover most text (count ·
    length).
    """
    covered = np.where(substrings.length == 1, np.inf, substrings.times * substrings.length)
    num_characters = int((substrings.length == 1).sum())
    return np.sort(np.argsort(-covered, kind="stable")[: num_characters + most])

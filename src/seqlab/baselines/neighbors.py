"""Predicts a masked token from the two tokens next to it.

In a text in which every token depends only on the previous one (a first-order Markov chain), a token
between a left and a right neighbor has the probability

    P(w | left, right) = P(w | left) · P(right | w) / Σ_v P(v | left) · P(right | v)

The factor of an unknown neighbor (masked itself, or beyond the end) is dropped: without a left one, it is replaced
by the token's unigram frequency, without a right one, by 1. Both factors come from a bigram model
with Kneser-Ney smoothing (`ngram.py`), so no token is impossible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.baselines.ngram import NGram

UNKNOWN = -1
"""An unknown neighbor."""

TokenIds = Integer[np.ndarray, " places"]


@dataclass(frozen=True)
class GapPredictions:
    """For every gap, the most probable token, and the natural log-probability of the correct one."""

    best: Int[np.ndarray, " places"]
    log_probs: Float[np.ndarray, " places"]


class NeighborModel:
    """P(w | left, right) over the tokens that may fill a gap.

    candidate_ids: the ids that may fill a gap, in order; others get no probability.
    """

    def __init__(
        self,
        bigrams: NGram,
        unigram_probs: Float[np.ndarray, " vocab"],
        *,
        candidate_ids: Integer[np.ndarray, " ids"],
    ) -> None:
        self._bigrams = bigrams
        self._unigram_probs = unigram_probs
        self._candidate_ids = candidate_ids
        self._columns = _BigramColumns.from_bigrams(bigrams)

    @classmethod
    def fit(
        cls,
        tokens: Integer[np.ndarray, " time"],
        vocabulary_size: int,
        *,
        candidate_ids: Integer[np.ndarray, " ids"],
    ) -> NeighborModel:
        unigram_probs = NGram.fit(tokens, vocabulary_size, order=1).next_token_probs(np.empty(0, np.int64))
        return cls(NGram.fit(tokens, vocabulary_size, order=2), unigram_probs, candidate_ids=candidate_ids)

    def predict(self, left: TokenIds, right: TokenIds, targets: TokenIds) -> GapPredictions:
        """Predict gaps from their neighbors; UNKNOWN for a neighbor that is not known."""
        best, log_probs = np.empty(len(targets), np.int64), np.empty(len(targets))
        previous = None
        for index in np.lexsort(
            (right, left)
        ).tolist():  # sorted by neighbor, so that most factors can be reused
            context = (int(left[index]), int(right[index]))
            if previous is None or context[0] != previous[0]:
                left_probs = self.next_token_probs(context[0])
            if context != previous:
                probs, previous = self._normalize(left_probs * self.previous_token_probs(context[1])), context
            best[index] = self._candidate_ids[probs.argmax()]
            log_probs[index] = np.log(probs[np.searchsorted(self._candidate_ids, targets[index])])
        return GapPredictions(best, log_probs)

    def predict_unigram(self, targets: TokenIds) -> GapPredictions:
        """Predict gaps without context: always the most frequent token."""
        unknown = np.full(len(targets), UNKNOWN)
        return self.predict(unknown, unknown, targets)

    def next_token_probs(self, left: int) -> Float[np.ndarray, " vocab"]:
        """P(w | left) for every w."""
        return self._unigram_probs if left == UNKNOWN else self._bigrams.next_token_probs(np.array([left]))

    def previous_token_probs(self, right: int) -> Float[np.ndarray, " vocab"]:
        """P(right | w) for every w."""
        return (
            np.ones_like(self._unigram_probs)
            if right == UNKNOWN
            else self._columns.previous_token_probs(right)
        )

    def _normalize(self, probs: Float[np.ndarray, " vocab"]) -> Float[np.ndarray, " ids"]:
        allowed = probs[self._candidate_ids]
        return allowed / allowed.sum()


@dataclass(frozen=True)
class _BigramColumns:
    """The bigrams sorted by their second token: P(right | w) for all w at once."""

    firsts: Int[np.ndarray, " grams"]
    probs: Float[np.ndarray, " grams"]
    edges: Int[np.ndarray, " edges"]
    """Index of the first bigram that ends in token t; one entry more than there are tokens."""
    backoff: Float[np.ndarray, " vocab"]
    unigram_probs: Float[np.ndarray, " vocab"]

    @classmethod
    def from_bigrams(cls, bigrams: NGram) -> _BigramColumns:
        size, tokens = bigrams.vocabulary_size, bigrams.levels[0].codes
        unigram_probs = bigrams.next_token_probs(np.empty(0, np.int64))
        backoff = np.ones(size)  # after an unseen token, everything comes from the shorter context
        if bigrams.order < 2:
            return cls(
                np.empty(0, np.int64), np.empty(0), np.zeros(size + 1, np.int64), backoff, unigram_probs
            )
        level = bigrams.levels[1]
        backoff[tokens] = level.backoff
        seconds = level.codes % size
        order = np.argsort(seconds, kind="stable")
        edges = np.searchsorted(seconds[order], np.arange(size + 1))
        return cls(
            tokens[level.codes // size][order], level.discounted_prob[order], edges, backoff, unigram_probs
        )

    def previous_token_probs(self, right: int) -> Float[np.ndarray, " vocab"]:
        probs = self.backoff * self.unigram_probs[right]
        grams = slice(self.edges[right], self.edges[right + 1])
        probs[self.firsts[grams]] += self.probs[grams]
        return probs

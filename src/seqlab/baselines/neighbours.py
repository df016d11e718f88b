"""What stands in a gap, guessed from the two tokens beside it.

In a text in which every token depends on the one before it alone (a first-order Markov chain), a token between a left and a right
neighbour has the probability

    P(w | left, right) = P(w | left) · P(right | w) / Σ_v P(v | left) · P(right | v)

A neighbour that is not known (hidden itself, or beyond the end) leaves its factor out: without a left one the token's share of all
tokens stands in its place, without a right one 1. Both factors come from a bigram model with Kneser-Ney smoothing (`ngram.py`), so no
token is impossible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.baselines.ngram import NGram

UNKNOWN = -1
"""A neighbour that nobody can see."""

Places = Integer[np.ndarray, " places"]


@dataclass(frozen=True)
class Guesses:
    """For every gap the likeliest token, and the natural-log probability of the right one."""

    best: Int[np.ndarray, " places"]
    log_probs: Float[np.ndarray, " places"]


class Neighbours:
    """P(w | left, right) over the tokens that may stand in a gap.

    may_stand: the ids that a gap may hide, in their order; others get no probability.
    """

    def __init__(self, bigrams: NGram, shares: Float[np.ndarray, " vocab"], *, may_stand: Integer[np.ndarray, " ids"]) -> None:
        self._bigrams = bigrams
        self._shares = shares
        self._may_stand = may_stand
        self._columns = _Columns.of(bigrams)

    @classmethod
    def fit(cls, tokens: Integer[np.ndarray, " time"], vocabulary_size: int, *, may_stand: Integer[np.ndarray, " ids"]) -> Neighbours:
        shares = NGram.fit(tokens, vocabulary_size, order=1).next_tokens(np.empty(0, np.int64))
        return cls(NGram.fit(tokens, vocabulary_size, order=2), shares, may_stand=may_stand)

    def guess(self, left: Places, right: Places, truth: Places) -> Guesses:
        """Of gaps whose neighbours are given; UNKNOWN where one is not."""
        best, log_probs = np.empty(len(truth), np.int64), np.empty(len(truth))
        before = None
        for place in np.lexsort((right, left)).tolist():  # equal neighbours one after the other, so that most factors are at hand
            now = (int(left[place]), int(right[place]))
            if before is None or now[0] != before[0]:
                from_left = self.after(now[0])
            if now != before:
                probs, before = self._normalised(from_left * self.before(now[1])), now
            best[place] = self._may_stand[probs.argmax()]
            log_probs[place] = np.log(probs[np.searchsorted(self._may_stand, truth[place])])
        return Guesses(best, log_probs)

    def guess_blindly(self, truth: Places) -> Guesses:
        """The same without a look at the neighbours: always the most frequent token."""
        nothing = np.full(len(truth), UNKNOWN)
        return self.guess(nothing, nothing, truth)

    def after(self, left: int) -> Float[np.ndarray, " vocab"]:
        """P(w | left) for every w."""
        return self._shares if left == UNKNOWN else self._bigrams.next_tokens(np.array([left]))

    def before(self, right: int) -> Float[np.ndarray, " vocab"]:
        """P(right | w) for every w."""
        return np.ones_like(self._shares) if right == UNKNOWN else self._columns.before(right)

    def _normalised(self, probs: Float[np.ndarray, " vocab"]) -> Float[np.ndarray, " ids"]:
        allowed = probs[self._may_stand]
        return allowed / allowed.sum()


@dataclass(frozen=True)
class _Columns:
    """The bigrams sorted by their second token: P(right | w) for all w at once."""

    firsts: Int[np.ndarray, " grams"]
    shares: Float[np.ndarray, " grams"]
    edges: Int[np.ndarray, " edges"]
    """Where the bigrams that end in token t begin; one more than there are tokens."""
    backoff: Float[np.ndarray, " vocab"]
    alone: Float[np.ndarray, " vocab"]

    @classmethod
    def of(cls, bigrams: NGram) -> _Columns:
        size, tokens = bigrams.vocabulary_size, bigrams.levels[0].codes
        alone = bigrams.next_tokens(np.empty(0, np.int64))
        backoff = np.ones(size)  # after a token never seen all is left to the shorter context
        if bigrams.order < 2:
            return cls(np.empty(0, np.int64), np.empty(0), np.zeros(size + 1, np.int64), backoff, alone)
        level = bigrams.levels[1]
        backoff[tokens] = level.backoff
        seconds = level.codes % size
        order = np.argsort(seconds, kind="stable")
        edges = np.searchsorted(seconds[order], np.arange(size + 1))
        return cls(tokens[level.codes // size][order], level.share[order], edges, backoff, alone)

    def before(self, right: int) -> Float[np.ndarray, " vocab"]:
        probs = self.backoff * self.alone[right]
        grams = slice(self.edges[right], self.edges[right + 1])
        probs[self.firsts[grams]] += self.shares[grams]
        return probs

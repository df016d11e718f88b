"""An n-gram language model: the next token from the counts of what followed the last order - 1 tokens.

Interpolated modified Kneser-Ney smoothing. With context h of k - 1 tokens, h' the same without its first
token:

    p_k(w | h) = (c_k(h w) - D_k(c_k(h w))) / c_k(h ·) + γ_k(h) · p_{k-1}(w | h'),     p_0(w) = 1 / vocabulary_size
    γ_k(h)     = Σ_w D_k(c_k(h w)) / c_k(h ·)                                          the discounted mass

At the highest order c is how often h w was seen; below, the number of distinct tokens that precede h w, so
that a token which only ever follows one other (Francisco) is not likely elsewhere. D_k(c) is a
discount for c = 1, 2 and at least 3. Every distribution sums to 1, and since the last one is uniform, no
token is impossible. Order 2 is the Markov model of the chain rule with a first-order assumption (a bigram
model).

Paper: Chen & Goodman 1999, "An empirical study of smoothing techniques for language modeling", Computer
Speech & Language 13(4), sections 2.7 and 3 (modified Kneser-Ney, discounts from counts of counts).

Nothing here loops over tokens. A k-gram has a number: its place among the sorted codes `number of its first k
- 1 tokens · vocabulary_size + last token`, so that codes stay small whatever the order, and looking one up is
a binary search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.core.errors import UsageError

ORDER = 5
# Counting the 5-grams of this many words takes 2 seconds and 350 MB; characters take less of both.
MAX_TOKENS = 2_000_000
# Tokens scored at once, so that memory does not grow with the text.
CHUNK = 1 << 18
UNSEEN = -1
# No discount comes nearer than this to 0 (unseen tokens would be impossible) or to the count itself.
MARGIN = 0.05

Tokens = Integer[np.ndarray, " time"]
GramIds = Int[np.ndarray, " time"]


@dataclass(frozen=True)
class NGramLevel:
    """The k-grams of one length k: their sorted codes, the first term of p_k for each, and γ_k for each
    context.
    """

    codes: Int[np.ndarray, " grams"]
    discounted_prob: Float[np.ndarray, " grams"]
    backoff: Float[np.ndarray, " contexts"]

    def lookup(self, contexts: GramIds, tokens: Tokens, *, vocabulary_size: int) -> GramIds:
        """The numbers of the k-grams made of numbered contexts and tokens; UNSEEN where there is none."""
        queries = contexts * vocabulary_size + tokens
        index = np.minimum(np.searchsorted(self.codes, queries), len(self.codes) - 1)
        return np.where((self.codes[index] == queries) & (contexts != UNSEEN), index, UNSEEN)


@dataclass(frozen=True)
class NGram:
    """A fitted n-gram model. `num_tokens` is the number of tokens it was fitted on."""

    vocabulary_size: int
    levels: tuple[NGramLevel, ...]
    num_tokens: int

    @property
    def order(self) -> int:
        return len(self.levels)

    @classmethod
    def fit(
        cls, tokens: Tokens, vocabulary_size: int, *, order: int = ORDER, max_tokens: int = MAX_TOKENS
    ) -> NGram:
        """Count the n-grams of a stream. Only the last max_tokens of a longer stream are
        used.

        A stream shorter than the order gives a model of a lower order.
        """
        if order < 1:
            raise UsageError(
                f"the order of an n-gram model must be at least 1, found {order}.",
                cure="Order 1 counts single tokens, order 2 pairs of tokens, and so on.",
            )
        if len(tokens) == 0:
            raise UsageError(
                "an n-gram model needs at least one token.", cure="Fit the baseline on at least one token."
            )
        kept = np.asarray(tokens[-max_tokens:], dtype=np.int64)
        _check_ids(kept, vocabulary_size)
        return cls(
            vocabulary_size, tuple(_fit_levels(kept, vocabulary_size, min(order, len(kept)))), len(kept)
        )

    def log_probs(self, tokens: Tokens) -> Float[np.ndarray, " time"]:
        """The natural-log probability of every token, given the tokens before it in the same array."""
        _check_ids(tokens, self.vocabulary_size)
        parts = []
        for start in range(0, len(tokens), CHUNK):
            before = max(0, start - self.order + 1)
            parts.append(
                self._log_probs(np.asarray(tokens[before : start + CHUNK], dtype=np.int64))[start - before :]
            )
        return np.concatenate(parts) if parts else np.zeros(0)

    def next_token_probs(self, context: Tokens) -> Float[np.ndarray, " vocab"]:
        """The probability of every token of the vocabulary after a context."""
        _check_ids(context, self.vocabulary_size)
        last_tokens = np.asarray(context[max(0, len(context) - self.order + 1) :], dtype=np.int64)
        probs = np.full(self.vocabulary_size, 1 / self.vocabulary_size)
        endings = (
            [int(grams[-1]) for _, _, grams in self._scan_levels(last_tokens)] if len(last_tokens) else []
        )
        for level, context_id in zip(self.levels, [0, *endings], strict=False):  # 0 is the empty context
            if context_id == UNSEEN:
                break
            first, last = np.searchsorted(
                level.codes, [context_id * self.vocabulary_size, (context_id + 1) * self.vocabulary_size]
            )
            probs *= level.backoff[context_id]
            probs[level.codes[first:last] % self.vocabulary_size] += level.discounted_prob[first:last]
        return probs

    def _log_probs(self, tokens: GramIds) -> Float[np.ndarray, " time"]:
        probs = np.full(len(tokens), 1 / self.vocabulary_size)
        for level, contexts, grams in self._scan_levels(tokens):
            is_known_context = contexts != UNSEEN
            probs[is_known_context] *= level.backoff[contexts[is_known_context]]
            is_known = grams != UNSEEN
            probs[is_known] += level.discounted_prob[grams[is_known]]
        log_probs: Float[np.ndarray, " time"] = np.log(probs)
        return log_probs

    def _scan_levels(self, tokens: GramIds) -> Iterator[tuple[NGramLevel, GramIds, GramIds]]:
        """For each order: the numbers of the context before each token, and of the gram that ends in it."""
        contexts = np.zeros(len(tokens), dtype=np.int64)
        for level in self.levels:
            grams = level.lookup(contexts, tokens, vocabulary_size=self.vocabulary_size)
            yield level, contexts, grams
            contexts = np.concatenate([[UNSEEN], grams[:-1]])


def _fit_levels(tokens: GramIds, vocabulary_size: int, order: int) -> Iterator[NGramLevel]:
    """Number the k-grams of every length, from short to long, and smooth their counts."""
    contexts = np.zeros(len(tokens), dtype=np.int64)  # the number of the (k - 1)-gram before each position
    num_contexts = 1
    for length in range(1, order + 1):
        # (len(tokens) - length + 1,): the first positions have no gram of this length
        codes, grams, counts = np.unique(
            contexts * vocabulary_size + tokens[length - 1 :], return_inverse=True, return_counts=True
        )
        if length < order:
            counts = _continuation_counts(grams, tokens, vocabulary_size, length, num_grams=len(codes))
        yield _smooth(codes, counts, num_contexts=num_contexts, vocabulary_size=vocabulary_size)
        contexts, num_contexts = grams[:-1], len(codes)


def _continuation_counts(
    grams: Int[np.ndarray, " places"], tokens: GramIds, vocabulary_size: int, length: int, *, num_grams: int
) -> Int[np.ndarray, " grams"]:
    """The number of distinct tokens that precede each gram."""
    pairs = np.sort(grams[1:] * vocabulary_size + tokens[: len(tokens) - length])
    is_new = np.append(True, pairs[1:] != pairs[:-1])[
        : len(pairs)
    ]  # np.unique goes through a hash table here, ten times slower
    return np.bincount(pairs[is_new] // vocabulary_size, minlength=num_grams)


def _smooth(
    codes: Int[np.ndarray, " grams"],
    counts: Int[np.ndarray, " grams"],
    *,
    num_contexts: int,
    vocabulary_size: int,
) -> NGramLevel:
    contexts = codes // vocabulary_size
    discount = discounts(counts)[np.minimum(counts, 3)]  # (grams,)
    totals = np.bincount(contexts, weights=counts, minlength=num_contexts)  # (contexts,)
    # Only a context at the very start of the stream has no total: everything then comes from the shorter context.
    backoff = np.divide(
        np.bincount(contexts, weights=discount, minlength=num_contexts),
        totals,
        out=np.ones(num_contexts),
        where=totals > 0,
    )
    discounted_prob = np.divide(
        counts - discount, totals[contexts], out=np.zeros(len(codes)), where=counts > 0
    )
    return NGramLevel(codes, discounted_prob, backoff)


def discounts(counts: Int[np.ndarray, " grams"]) -> Float[np.ndarray, " 4"]:
    """The discounts for a count of 0 (none), 1, 2, and 3 or more.

        D_c = c - (c + 1) · Y · n_{c+1} / n_c,    Y = n_1 / (n_1 + 2 n_2),    n_c = how many grams have the count c

    If there are too few counts of counts, the discount is half of the count.
    """
    count_of_counts = np.bincount(np.minimum(counts, 5), minlength=6).astype(np.float64)
    values = np.array([0.0, 0.5, 0.5, 0.5])
    if count_of_counts[1] > 0 and count_of_counts[2] > 0:
        ratio = count_of_counts[1] / (count_of_counts[1] + 2 * count_of_counts[2])
        for count in (1, 2, 3):
            if count_of_counts[count] > 0:
                values[count] = (
                    count - (count + 1) * ratio * count_of_counts[count + 1] / count_of_counts[count]
                )
    values[1:] = np.clip(values[1:], MARGIN, np.array([1, 2, 3]) - MARGIN)
    return values


def _check_ids(tokens: Tokens, vocabulary_size: int) -> None:
    if len(tokens) and not (tokens.min() >= 0 and tokens.max() < vocabulary_size):
        raise UsageError(
            f"token ids range from {tokens.min()} to {tokens.max()}, but the vocabulary has"
            f" {vocabulary_size} entries.",
            cure="Token ids start at 0.",
        )

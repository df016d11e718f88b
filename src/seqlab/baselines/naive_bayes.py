"""Naive Bayes on a bag of words: every token counts independently of its context and position.

    log p(class | tokens) = log p(class) + Σ_token log p(token | class) + const
    p(token | class)      = (count(token, class) + smoothing) / (count(class) + smoothing · vocabulary_size)

Paper: the multinomial model of McCallum & Nigam 1998, "A Comparison of Event Models for Naive Bayes Text
Classification"; counting a token once per text: Wang & Manning 2012, "Baselines and Bigrams", ACL.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.core.errors import UsageError

Tokens = Integer[np.ndarray, " time"]


@dataclass(frozen=True)
class TokenCounts:
    """How often each token occurs in the texts of each class."""

    tokens: Float[np.ndarray, "classes vocab"]
    texts: Float[np.ndarray, " classes"]

    @classmethod
    def count(
        cls,
        examples: Iterable[tuple[Tokens, int]],
        *,
        vocabulary_size: int,
        num_classes: int,
        binary: bool = True,
    ) -> TokenCounts:
        """Count in one streaming pass."""
        counts = np.zeros((num_classes, vocabulary_size))
        class_counts = np.zeros(num_classes)
        for tokens, label_id in examples:
            _check_ids(tokens, label_id, vocabulary_size=vocabulary_size, num_classes=num_classes)
            distinct, token_counts = np.unique(tokens, return_counts=True)
            counts[label_id, distinct] += 1 if binary else token_counts
            class_counts[label_id] += 1
        return cls(counts, class_counts)

    def __sub__(self, part: TokenCounts) -> TokenCounts:
        """The counts without some of the texts; exact, because counts are whole numbers."""
        return TokenCounts(self.tokens - part.tokens, self.texts - part.texts)


@dataclass(frozen=True)
class NaiveBayes:
    """A fitted bag-of-words classifier.

    `binary` decides whether a token counts once per text or every time it occurs.
    """

    log_prior: Float[np.ndarray, " classes"]
    log_likelihood: Float[np.ndarray, "vocab classes"]
    binary: bool

    @classmethod
    def fit(
        cls,
        examples: Iterable[tuple[Tokens, int]],
        *,
        vocabulary_size: int,
        num_classes: int,
        binary: bool = True,
        smoothing: float = 1.0,
    ) -> NaiveBayes:
        """Count the tokens of each class and smooth the counts."""
        counts = TokenCounts.count(
            examples, vocabulary_size=vocabulary_size, num_classes=num_classes, binary=binary
        )
        return cls.from_counts(counts, binary=binary, smoothing=smoothing)

    @classmethod
    def from_counts(cls, counts: TokenCounts, *, binary: bool = True, smoothing: float = 1.0) -> NaiveBayes:
        if counts.texts.sum() == 0:
            raise UsageError(
                "naive Bayes needs at least one example.", cure="Fit the baseline on at least one example."
            )
        with np.errstate(divide="ignore"):  # a class without examples has probability 0
            log_prior = np.log(counts.texts / counts.texts.sum())
        smoothed = counts.tokens + smoothing
        log_likelihood = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))  # (classes, vocab)
        return cls(log_prior, np.ascontiguousarray(log_likelihood.T), binary)

    def log_probs(self, texts: Iterable[Tokens]) -> Float[np.ndarray, "examples classes"]:
        """The natural-log probability of every class for every text."""
        scores = [
            self.log_prior + self.log_likelihood[np.unique(tokens) if self.binary else tokens].sum(axis=0)
            for tokens in texts
        ]
        joint = np.stack(scores) if scores else np.zeros((0, len(self.log_prior)))
        highest = joint.max(axis=1, keepdims=True, initial=-np.inf)
        log_probs: Float[np.ndarray, "examples classes"] = (
            joint - highest - np.log(np.exp(joint - highest).sum(axis=1, keepdims=True))
        )
        return log_probs

    def predict(self, texts: Iterable[Tokens]) -> Int[np.ndarray, " examples"]:
        """The most probable class of every text."""
        best: Int[np.ndarray, " examples"] = self.log_probs(texts).argmax(axis=1)
        return best


def _check_ids(tokens: Tokens, label_id: int, *, vocabulary_size: int, num_classes: int) -> None:
    if not 0 <= label_id < num_classes:
        raise UsageError(
            f"an example has class {label_id}, but there are {num_classes} classes.",
            cure="Class ids start at 0.",
        )
    if len(tokens) and not (tokens.min() >= 0 and tokens.max() < vocabulary_size):
        raise UsageError(
            f"token ids range from {tokens.min()} to {tokens.max()}, but the vocabulary has"
            f" {vocabulary_size} entries.",
            cure="Token ids start at 0.",
        )

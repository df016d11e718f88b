"""Ridge regression on a bag of words: the prediction is a sum of token weights.

    ŷ = mean + x · w,      w = argmin ‖y - mean - X w‖² + strength · ‖w‖²

x has a 1 for every token that occurs in a text, divided by the square root of their number. The equations are
solved by conjugate gradients, which need only products with X, so that the matrix of texts and words is never
built. The strength is chosen on the last tenth of the examples.

Papers: Hoerl & Kennard 1970, "Ridge Regression: Biased Estimation for Nonorthogonal Problems"; Hestenes &
Stiefel 1952, "Methods of Conjugate Gradients for Solving Linear Systems".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.core.errors import UsageError

ALPHAS = (0.3, 3.0, 30.0)
MAX_ITERATIONS = 60
TOLERANCE = 1e-6

Tokens = Integer[np.ndarray, " time"]
Targets = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class BagsOfWords:
    """Texts as concatenated lists of their distinct tokens, and the weight of one token."""

    tokens: Int[np.ndarray, " tokens"]
    texts: Int[np.ndarray, " tokens"]
    token_weight: Float[np.ndarray, " tokens"]
    num_texts: int

    @classmethod
    def from_texts(cls, texts: Iterable[Tokens]) -> BagsOfWords:
        bags = [np.unique(tokens).astype(np.int64) for tokens in texts]
        sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
        tokens = np.concatenate(bags) if bags else np.zeros(0, np.int64)
        return cls(
            tokens,
            np.repeat(np.arange(len(bags)), sizes),
            np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes),
            len(bags),
        )

    def matmul(self, weights: Float[np.ndarray, " vocab"]) -> Targets:
        """X w"""
        return np.bincount(
            self.texts, weights=weights[self.tokens] * self.token_weight, minlength=self.num_texts
        )

    def transpose_matmul(self, residuals: Targets, *, vocabulary_size: int) -> Float[np.ndarray, " vocab"]:
        """Xᵀ r"""
        return np.bincount(
            self.tokens, weights=residuals[self.texts] * self.token_weight, minlength=vocabulary_size
        )

    def slice_texts(self, start: int, end: int) -> BagsOfWords:
        inside = (self.texts >= start) & (self.texts < end)
        return BagsOfWords(
            self.tokens[inside], self.texts[inside] - start, self.token_weight[inside], end - start
        )


@dataclass(frozen=True)
class Ridge:
    """A fitted sum of token weights."""

    intercept: float
    weights: Float[np.ndarray, " vocab"]

    @classmethod
    def fit(cls, texts: Iterable[Tokens], targets: Targets, *, vocabulary_size: int) -> Ridge:
        bags = BagsOfWords.from_texts(texts)
        if bags.num_texts == 0:
            raise UsageError(
                "ridge regression needs at least one example.",
                cure="Fit the baseline on at least one example.",
            )
        split = bags.num_texts - bags.num_texts // 10
        errors = {}
        if split < bags.num_texts:
            first, last = bags.slice_texts(0, split), bags.slice_texts(split, bags.num_texts)
            for alpha in ALPHAS:
                model = cls.fit_with_alpha(first, targets[:split], alpha, vocabulary_size=vocabulary_size)
                errors[alpha] = float(((model.predict_bags(last) - targets[split:]) ** 2).mean())
        return cls.fit_with_alpha(
            bags,
            targets,
            min(errors, key=lambda candidate: errors[candidate], default=ALPHAS[1]),
            vocabulary_size=vocabulary_size,
        )

    @classmethod
    def fit_with_alpha(
        cls, bags: BagsOfWords, targets: Targets, alpha: float, *, vocabulary_size: int
    ) -> Ridge:
        """Solve (XᵀX + strength · I) w = Xᵀ (y - mean)."""
        intercept = float(targets.mean())
        residual = bags.transpose_matmul(
            targets - intercept, vocabulary_size=vocabulary_size
        )  # the residual of w = 0
        weights, direction = np.zeros(vocabulary_size), residual.copy()
        squared_norm = first = float(residual @ residual)
        for _ in range(MAX_ITERATIONS):
            if squared_norm <= TOLERANCE**2 * first:
                break
            product = (
                bags.transpose_matmul(bags.matmul(direction), vocabulary_size=vocabulary_size)
                + alpha * direction
            )
            step = squared_norm / float(direction @ product)
            weights += step * direction
            residual -= step * product
            before, squared_norm = squared_norm, float(residual @ residual)
            direction = residual + squared_norm / before * direction
        return cls(intercept, weights)

    def predict(self, texts: Iterable[Tokens]) -> Targets:
        return self.predict_bags(BagsOfWords.from_texts(texts))

    def predict_bags(self, bags: BagsOfWords) -> Targets:
        return self.intercept + bags.matmul(self.weights)

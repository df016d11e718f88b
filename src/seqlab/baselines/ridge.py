"""Ridge regression on a bag of words: a number is the sum of what each of its tokens adds.

    ŷ = mean + x · w,      w = argmin ‖y - mean - X w‖² + strength · ‖w‖²

x has a 1 for every token that occurs in a text, divided by the root of how many there are. The equations are solved by conjugate gradients, which
need X only as a product, so that no matrix of texts and words is ever made. The strength is chosen on the last tenth of the examples.

Papers: Hoerl & Kennard 1970, "Ridge Regression: Biased Estimation for Nonorthogonal Problems"; Hestenes & Stiefel 1952, "Methods of
Conjugate Gradients for Solving Linear Systems".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqlab.core.errors import UsageError

STRENGTHS = (0.3, 3.0, 30.0)
MOST_ROUNDS = 60
CLOSE_ENOUGH = 1e-6

Tokens = Integer[np.ndarray, " time"]
Numbers = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class Bags:
    """Texts as the different tokens of each, laid end to end, and how much one of them counts."""

    tokens: Int[np.ndarray, " tokens"]
    texts: Int[np.ndarray, " tokens"]
    share: Float[np.ndarray, " tokens"]
    num_texts: int

    @classmethod
    def of(cls, texts: Iterable[Tokens]) -> Bags:
        bags = [np.unique(tokens).astype(np.int64) for tokens in texts]
        sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
        tokens = np.concatenate(bags) if bags else np.zeros(0, np.int64)
        return cls(tokens, np.repeat(np.arange(len(bags)), sizes), np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes), len(bags))

    def times(self, weights: Float[np.ndarray, " vocab"]) -> Numbers:
        """X w"""
        return np.bincount(self.texts, weights=weights[self.tokens] * self.share, minlength=self.num_texts)

    def turned_times(self, numbers: Numbers, *, vocabulary_size: int) -> Float[np.ndarray, " vocab"]:
        """Xᵀ r"""
        return np.bincount(self.tokens, weights=numbers[self.texts] * self.share, minlength=vocabulary_size)

    def part(self, start: int, end: int) -> Bags:
        inside = (self.texts >= start) & (self.texts < end)
        return Bags(self.tokens[inside], self.texts[inside] - start, self.share[inside], end - start)


@dataclass(frozen=True)
class Ridge:
    """A fitted sum of token weights."""

    mean: float
    weights: Float[np.ndarray, " vocab"]

    @classmethod
    def fit(cls, texts: Iterable[Tokens], numbers: Numbers, *, vocabulary_size: int) -> Ridge:
        bags = Bags.of(texts)
        if bags.num_texts == 0:
            raise UsageError("a ridge cannot be fitted to no examples.", cure="Fit the baseline on at least one example.")
        cut = bags.num_texts - bags.num_texts // 10
        tried = {}
        if cut < bags.num_texts:
            first, last = bags.part(0, cut), bags.part(cut, bags.num_texts)
            for strength in STRENGTHS:
                model = cls.with_strength(first, numbers[:cut], strength, vocabulary_size=vocabulary_size)
                tried[strength] = float(((model.of(last) - numbers[cut:]) ** 2).mean())
        return cls.with_strength(bags, numbers, min(tried, key=lambda each: tried[each], default=STRENGTHS[1]), vocabulary_size=vocabulary_size)

    @classmethod
    def with_strength(cls, bags: Bags, numbers: Numbers, strength: float, *, vocabulary_size: int) -> Ridge:
        """Solve (XᵀX + strength · I) w = Xᵀ (y - mean)."""
        mean = float(numbers.mean())
        left = bags.turned_times(numbers - mean, vocabulary_size=vocabulary_size)  # the residual of w = 0
        weights, direction = np.zeros(vocabulary_size), left.copy()
        size = first = float(left @ left)
        for _ in range(MOST_ROUNDS):
            if size <= CLOSE_ENOUGH**2 * first:
                break
            product = bags.turned_times(bags.times(direction), vocabulary_size=vocabulary_size) + strength * direction
            step = size / float(direction @ product)
            weights += step * direction
            left -= step * product
            before, size = size, float(left @ left)
            direction = left + size / before * direction
        return cls(mean, weights)

    def predict(self, texts: Iterable[Tokens]) -> Numbers:
        return self.of(Bags.of(texts))

    def of(self, bags: Bags) -> Numbers:
        return self.mean + bags.times(self.weights)

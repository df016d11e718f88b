"""The ridge on bags of tokens against scikit-learn on the same matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as TheirRidge

from seqlab.baselines.label_frequencies import LabelFrequencies
from seqlab.baselines.ridge import BagsOfWords, Ridge
from seqlab.core.errors import UsageError

RNG = np.random.default_rng(2)
TEXTS = [RNG.integers(12, size=RNG.integers(1, 9)) for _ in range(40)]
NUMBERS = RNG.normal(size=40) + 3


def matrix(texts: list[np.ndarray]) -> np.ndarray:
    rows = np.zeros((len(texts), 12))
    for row, tokens in zip(rows, texts, strict=True):
        row[tokens] = 1 / np.sqrt(len(set(tokens.tolist())))
    return rows


def test_the_weights_are_those_of_scikit_learn() -> None:
    found = Ridge.fit_with_alpha(BagsOfWords.from_texts(TEXTS), NUMBERS, 0.7, vocabulary_size=12)
    theirs = TheirRidge(alpha=0.7, fit_intercept=False).fit(matrix(TEXTS), NUMBERS - NUMBERS.mean())
    np.testing.assert_allclose(found.weights, theirs.coef_, atol=1e-5)
    new = [np.array([1, 1, 5]), np.array([7])]
    np.testing.assert_allclose(found.predict(new), NUMBERS.mean() + matrix(new) @ theirs.coef_, atol=1e-5)


def test_the_strength_is_the_best_one_on_the_last_tenth() -> None:
    errors = {}
    for strength in (0.3, 3.0, 30.0):
        theirs = TheirRidge(alpha=strength, fit_intercept=False).fit(
            matrix(TEXTS[:36]), NUMBERS[:36] - NUMBERS[:36].mean()
        )
        errors[strength] = (
            (NUMBERS[:36].mean() + matrix(TEXTS[36:]) @ theirs.coef_ - NUMBERS[36:]) ** 2
        ).mean()
    best = min(errors, key=lambda strength: errors[strength])
    expected = Ridge.fit_with_alpha(BagsOfWords.from_texts(TEXTS), NUMBERS, best, vocabulary_size=12)
    np.testing.assert_allclose(Ridge.fit(TEXTS, NUMBERS, vocabulary_size=12).weights, expected.weights)


def test_frequencies_are_the_shares_of_the_labels() -> None:
    found = LabelFrequencies.fit(np.array([[True, False], [True, True]]))
    assert found.predict_proba(3).tolist() == [[1.0, 0.5]] * 3
    with pytest.raises(UsageError, match="at least one example"):
        LabelFrequencies.fit(np.zeros((0, 2), dtype=bool))

"""Naive Bayes against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.core.errors import UsageError

VOCABULARY, CLASSES = 23, 3


def make_texts(num_texts: int, *, seed: int) -> tuple[list[np.ndarray], list[int]]:
    generator = np.random.default_rng(seed)
    topics = generator.dirichlet(np.full(VOCABULARY, 0.4), size=CLASSES)
    label_ids = generator.choice(CLASSES, size=num_texts, p=[0.6, 0.3, 0.1]).tolist()
    texts = [
        generator.choice(VOCABULARY, size=generator.integers(0, 15), p=topics[label_id])
        for label_id in label_ids
    ]
    return texts, label_ids


def bags(texts: list[np.ndarray], *, presence: bool) -> np.ndarray:
    counts = np.stack([np.bincount(text, minlength=VOCABULARY) for text in texts])
    return np.minimum(counts, 1) if presence else counts


@pytest.mark.parametrize("presence", [True, False])
@pytest.mark.parametrize("smoothing", [1.0, 0.2])
def test_it_is_the_multinomial_model_of_scikit_learn(presence: bool, smoothing: float) -> None:
    texts, label_ids = make_texts(120, seed=0)
    new_texts, _ = make_texts(40, seed=1)
    model = NaiveBayes.fit(
        zip(texts, label_ids, strict=True),
        vocabulary_size=VOCABULARY,
        num_classes=CLASSES,
        binary=presence,
        smoothing=smoothing,
    )
    truth = MultinomialNB(alpha=smoothing).fit(bags(texts, presence=presence), label_ids)
    bag = bags(new_texts, presence=presence)
    np.testing.assert_allclose(model.log_probs(new_texts), truth.predict_log_proba(bag), atol=1e-9)
    np.testing.assert_array_equal(model.predict(new_texts), truth.predict(bag))


def test_the_order_of_words_does_not_matter() -> None:
    texts, label_ids = make_texts(50, seed=2)
    model = NaiveBayes.fit(
        zip(texts, label_ids, strict=True), vocabulary_size=VOCABULARY, num_classes=CLASSES
    )
    np.testing.assert_array_equal(
        model.log_probs([np.array([1, 5, 2])]), model.log_probs([np.array([2, 1, 5])])
    )


def test_an_empty_text_gets_the_shares_of_the_classes() -> None:
    model = NaiveBayes.fit(
        [(np.array([0]), 0), (np.array([1]), 0), (np.array([2]), 1)], vocabulary_size=4, num_classes=2
    )
    np.testing.assert_allclose(np.exp(model.log_probs([np.zeros(0, dtype=np.int64)])), [[2 / 3, 1 / 3]])


def test_a_class_without_examples_is_never_predicted() -> None:
    model = NaiveBayes.fit([(np.array([0]), 0), (np.array([1]), 2)], vocabulary_size=3, num_classes=3)
    log_probs = model.log_probs([np.array([2])])
    assert log_probs[0, 1] == -np.inf
    assert np.exp(log_probs).sum() == pytest.approx(1.0)


def test_no_texts_give_no_predictions() -> None:
    model = NaiveBayes.fit([(np.array([0]), 0)], vocabulary_size=3, num_classes=2)
    assert model.predict([]).shape == (0,)


def test_what_does_not_exist_is_named() -> None:
    with pytest.raises(UsageError, match="class 2, but there are 2 classes"):
        NaiveBayes.fit([(np.array([0]), 2)], vocabulary_size=3, num_classes=2)
    with pytest.raises(UsageError, match="from 0 to 3, but the vocabulary has 3 entries"):
        NaiveBayes.fit([(np.array([0, 3]), 1)], vocabulary_size=3, num_classes=2)
    with pytest.raises(UsageError, match="at least one example"):
        NaiveBayes.fit([], vocabulary_size=3, num_classes=2)

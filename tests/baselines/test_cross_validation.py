"""Cross-validated predictions against models fitted on the other rows."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.baselines.cross_validation import FOLDS, cross_validated_bayes
from seqlab.baselines.naive_bayes import NaiveBayes


@pytest.mark.parametrize("num_texts", [2, 4, 23])
def test_every_text_is_judged_by_a_model_of_the_other_folds_to_the_last_bit(num_texts: int) -> None:
    generator = np.random.default_rng(num_texts)
    texts = [generator.integers(0, 11, size=generator.integers(0, 9)) for _ in range(num_texts)]
    labels = generator.integers(0, 3, size=num_texts)
    log_probs = cross_validated_bayes(texts, labels, vocabulary_size=11, num_classes=3)
    for row, text in enumerate(texts):
        others = [number for number in range(num_texts) if number % FOLDS != row % FOLDS]
        examples = ((texts[number], int(labels[number])) for number in others)
        bayes = NaiveBayes.fit(examples, vocabulary_size=11, num_classes=3)
        np.testing.assert_array_equal(log_probs[row], bayes.log_probs([text])[0])


def test_a_single_text_has_no_others_to_learn_from() -> None:
    log_probs = cross_validated_bayes([np.array([1])], np.array([0]), vocabulary_size=3, num_classes=2)
    np.testing.assert_array_equal(log_probs, [[0.0, 0.0]])

"""Scores of a classifier against scikit-learn and plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from seqlab.core.errors import UsageError
from seqlab.metrics.classification import (
    accuracy,
    class_scores,
    confusion_counts,
    macro_f1,
    mean_batch_accuracy,
)

NUM_CLASSES = 5
labels = st.lists(
    st.tuples(st.integers(0, NUM_CLASSES - 1), st.integers(0, NUM_CLASSES - 1)), min_size=1, max_size=40
)


@pytest.mark.slow
@given(pairs=labels)
def test_every_score_agrees_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    targets, predicted = np.array(pairs).T
    classes = list(range(NUM_CLASSES))
    counts = confusion_counts(targets, predicted, num_classes=NUM_CLASSES)
    np.testing.assert_array_equal(counts, confusion_matrix(targets, predicted, labels=classes))
    precision, recall, f1, _ = precision_recall_fscore_support(
        targets, predicted, labels=classes, zero_division=0
    )
    scores = class_scores(counts)
    np.testing.assert_allclose(scores.precision, precision)
    np.testing.assert_allclose(scores.recall, recall)
    np.testing.assert_allclose(scores.f1, f1)
    assert macro_f1(counts) == pytest.approx(f1_score(targets, predicted, average="macro", zero_division=0))
    assert accuracy(targets, predicted) == pytest.approx(np.trace(counts) / len(pairs))


def test_the_confusion_has_targets_in_its_rows() -> None:
    counts = confusion_counts(np.array([0, 0, 2]), np.array([1, 1, 0]), num_classes=3)
    assert counts.tolist() == [[0, 2, 0], [0, 0, 0], [1, 0, 0]]


@pytest.mark.spec(42)
def test_the_mean_of_batch_accuracies_differs_from_the_exact_one_when_the_last_batch_is_smaller() -> None:
    correct = np.array([True, True, False, True, True, False, False])  # batches of 3: 2/3, 2/3, 0/1
    assert mean_batch_accuracy(correct, batch_size=3) == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert accuracy(np.ones(7, dtype=np.int64), correct.astype(np.int64)) == pytest.approx(4 / 7)


@pytest.mark.spec(42)
@given(correct=st.lists(st.booleans(), min_size=1, max_size=50), batch_size=st.integers(1, 60))
def test_the_mean_of_batch_accuracies_is_what_a_loop_over_batches_prints(
    correct: list[bool], batch_size: int
) -> None:
    batches = [correct[start : start + batch_size] for start in range(0, len(correct), batch_size)]
    expected = sum(sum(batch) / len(batch) for batch in batches) / len(batches)
    assert mean_batch_accuracy(np.array(correct), batch_size=batch_size) == pytest.approx(expected)


def test_no_examples_are_refused() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(UsageError, match="no examples to score"):
        accuracy(nothing, nothing)
    with pytest.raises(UsageError, match="no examples to score"):
        mean_batch_accuracy(nothing.astype(bool), batch_size=3)


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_class_that_does_not_exist_is_named(wrong: int) -> None:
    with pytest.raises(
        UsageError, match=rf"predicted contains class {wrong}, but there are 3 classes"
    ) as caught:
        confusion_counts(np.array([0, 1]), np.array([0, wrong]), num_classes=3)
    assert "from 0 to 2" in caught.value.cure


def test_a_batch_size_of_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="batch_size must be at least 1"):
        mean_batch_accuracy(np.array([True]), batch_size=0)

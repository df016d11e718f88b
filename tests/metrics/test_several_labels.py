"""Scores of several labels, and of numbers, against scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, mean_squared_error, r2_score

from seqlab.metrics.multi_label import (
    best_thresholds,
    label_scores,
    micro_f1_items,
    multilabel_macro_f1_items,
    subset_accuracy_items,
)
from seqlab.metrics.regression import mae_items, r_squared_items, rmse_items, spearman_items

RNG = np.random.default_rng(7)


def test_the_scores_of_several_labels_are_those_of_scikit_learn() -> None:
    truth, said = RNG.random((60, 5)) < 0.3, RNG.random((60, 5)) < 0.4
    said[:, 4] = False  # a label that is never said
    assert micro_f1_items(truth, said).full_score() == pytest.approx(f1_score(truth, said, average="micro"))
    assert multilabel_macro_f1_items(truth, said).full_score() == pytest.approx(
        f1_score(truth, said, average="macro", zero_division=0)
    )
    assert subset_accuracy_items(truth, said).full_score() == accuracy_score(truth, said)
    np.testing.assert_allclose(
        label_scores(truth, said).f1, f1_score(truth, said, average=None, zero_division=0)
    )
    chosen = RNG.integers(60, size=60)
    assert multilabel_macro_f1_items(truth, said).value(chosen) == pytest.approx(
        f1_score(truth[chosen], said[chosen], average="macro", zero_division=0)
    )
    truth[:, 4] = False  # and that nothing has: it has no F1
    assert multilabel_macro_f1_items(truth, said).full_score() == pytest.approx(
        f1_score(truth, said, average="macro", zero_division=np.nan)
    )


def test_no_other_threshold_of_a_label_has_a_higher_f1() -> None:
    truth, probabilities = RNG.random((50, 3)) < 0.3, np.round(RNG.random((50, 3)), 1)
    truth[:, 2] = False
    found = best_thresholds(truth, probabilities)
    for label in (0, 1):
        best = f1_score(truth[:, label], probabilities[:, label] >= found[label])
        assert best == max(
            f1_score(truth[:, label], probabilities[:, label] >= threshold)
            for threshold in np.arange(-0.05, 1, 0.1)
        )
    assert found[2] == 0.5  # nothing to choose by


def test_the_scores_of_numbers_are_those_of_scikit_learn_and_scipy() -> None:
    truth = np.round(RNG.normal(size=80), 1)  # with ties
    predicted = np.round(truth + RNG.normal(size=80), 1)
    chosen = RNG.integers(80, size=80)
    for t, p, places in ((truth, predicted, np.arange(80)), (truth[chosen], predicted[chosen], chosen)):
        assert rmse_items(truth, predicted).value(places) == pytest.approx(mean_squared_error(t, p) ** 0.5)
        assert mae_items(truth, predicted).value(places) == pytest.approx(mean_absolute_error(t, p))
        assert r_squared_items(truth, predicted).value(places) == pytest.approx(r2_score(t, p))
        assert spearman_items(truth, predicted).value(places) == pytest.approx(spearmanr(t, p)[0])


def test_equal_truths_leave_nothing_to_explain() -> None:
    same, predicted = np.full(4, 2.5), np.arange(4.0)
    assert (r_squared_items(same, predicted).full_score(), spearman_items(same, predicted).full_score()) == (
        0.0,
        0.0,
    )

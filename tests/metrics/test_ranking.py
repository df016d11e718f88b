"""ROC AUC, average precision and thresholds against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from seqlab.metrics.ranking import average_precision, roc_auc, roc_auc_items, threshold_curve

RNG = np.random.default_rng(5)
TRUTH = RNG.random(150) < 0.3
SCORES = np.round(RNG.random(150) + 0.3 * TRUTH, 1)  # with many ties


def test_both_areas_are_those_of_scikit_learn() -> None:
    assert roc_auc(TRUTH, SCORES) == pytest.approx(roc_auc_score(TRUTH, SCORES))
    assert average_precision(TRUTH, SCORES) == pytest.approx(average_precision_score(TRUTH, SCORES))


def test_a_drawn_example_counts_as_often_as_it_is_drawn() -> None:
    chosen = RNG.integers(150, size=150)
    assert roc_auc_items(TRUTH, SCORES).value(chosen) == pytest.approx(
        roc_auc_score(TRUTH[chosen], SCORES[chosen])
    )


def test_one_side_alone_is_chance() -> None:
    assert roc_auc(np.ones(3, dtype=bool), np.arange(3.0)) == 0.5
    assert average_precision(np.zeros(3, dtype=bool), np.arange(3.0)) == 0.0


def test_the_curve_has_the_precision_recall_and_f1_of_every_threshold() -> None:
    curve = threshold_curve(TRUTH, SCORES)
    for threshold, precision, recall, f1 in zip(
        curve.thresholds, curve.precision, curve.recall, curve.f1, strict=True
    ):
        said = threshold <= SCORES
        assert (precision, recall, f1) == pytest.approx(
            (precision_score(TRUTH, said), recall_score(TRUTH, said), f1_score(TRUTH, said))
        )
    assert curve.best_f1() == (curve.thresholds[curve.f1.argmax()], curve.f1.max())
    assert sorted(curve.thresholds) == sorted(set(SCORES.tolist()))

"""A score of chosen items is the score that plain arithmetic and scikit-learn give for the same items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

from seqlab.core.errors import UsageError
from seqlab.metrics.bootstrap import resample
from seqlab.metrics.items import (
    SumItems,
    exp_ratio,
    grouped_mean_items,
    macro_f1_items,
    mean_items,
    ratio_items,
)

GENERATOR = np.random.default_rng(3)
TARGETS = GENERATOR.integers(4, size=60)
PREDICTED = np.where(GENERATOR.random(60) < 0.6, TARGETS, GENERATOR.integers(4, size=60))
SENTENCES = np.repeat(np.arange(20), 3)
CHOSEN = np.array([5, 5, 0, 17, 3, 5])


def f1(places: np.ndarray) -> float:
    return float(f1_score(TARGETS[places], PREDICTED[places], average="macro", zero_division=0))


def test_items_may_be_chosen_more_than_once() -> None:
    assert mean_items(TARGETS == PREDICTED).value(CHOSEN) == pytest.approx(
        (TARGETS == PREDICTED)[CHOSEN].mean()
    )
    assert macro_f1_items(TARGETS, PREDICTED, num_classes=4).value(CHOSEN) == pytest.approx(f1(CHOSEN))
    words = np.concatenate([np.flatnonzero(sentence == SENTENCES) for sentence in CHOSEN])
    assert macro_f1_items(TARGETS, PREDICTED, num_classes=4, groups=SENTENCES).value(CHOSEN) == pytest.approx(
        f1(words)
    )
    assert grouped_mean_items(TARGETS == PREDICTED, SENTENCES).value(CHOSEN) == pytest.approx(
        (TARGETS == PREDICTED)[words].mean()
    )


def test_perplexity_and_micro_f1_are_functions_of_sums() -> None:
    nats, tokens = np.array([3.0, 8.0, 1.0]), np.array([2, 4, 1])
    assert ratio_items(nats, tokens, exp_ratio).value(np.array([0, 1, 1])) == pytest.approx(math.exp(19 / 10))
    right, found, present = np.array([1, 0, 2]), np.array([1, 2, 2]), np.array([2, 1, 2])
    assert ratio_items(2 * right, found + present).full_score() == pytest.approx(2 * 3 / (5 + 5))


def test_a_part_is_scored_like_the_same_items_of_the_whole() -> None:
    items = macro_f1_items(TARGETS, PREDICTED, num_classes=4)
    part = items.subset(np.arange(10, 40))
    assert part.num_items == 30
    assert part.value(np.array([0, 1, 1])) == pytest.approx(f1(np.array([10, 11, 11])))


def test_several_models_meet_the_same_draws_whichever_way_they_are_drawn() -> None:
    right = TARGETS == PREDICTED
    both = resample([mean_items(right), mean_items(~right)], resamples=50)
    np.testing.assert_allclose(both.sum(axis=0), 1.0)  # what one has right the other has wrong, in every draw
    one_by_one = SumItems(
        np.arange(60), np.stack([right, np.ones(60)], axis=1).astype(float), mean_items(right).score
    )
    drawn = resample([one_by_one, mean_items(~right)], resamples=50)
    np.testing.assert_allclose(drawn.sum(axis=0), 1.0)


def test_a_ratio_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="positive denominators"):
        ratio_items(np.array([1.0]), np.array([0]))

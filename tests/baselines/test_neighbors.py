"""Gaps filled from the tokens beside them."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.baselines.neighbors import UNKNOWN, NeighborModel
from seqlab.baselines.ngram import NGram

VOCABULARY = 7
MAY_STAND = np.array([1, 2, 4, 5, 6])


def stream(length: int = 400) -> np.ndarray:
    random = np.random.default_rng(2)
    return np.minimum(random.integers(0, 7, length), random.integers(0, 7, length))


@pytest.mark.parametrize(("left", "right"), [(3, 2), (0, 6), (UNKNOWN, 4), (5, UNKNOWN), (UNKNOWN, UNKNOWN)])
def test_the_probability_is_that_of_the_markov_chain(left: int, right: int) -> None:
    tokens = stream()
    bigrams, unigrams = NGram.fit(tokens, VOCABULARY, order=2), NGram.fit(tokens, VOCABULARY, order=1)
    expected = {}
    for word in MAY_STAND.tolist():
        after = (
            unigrams.next_token_probs(np.array([], np.int64))[word]
            if left == UNKNOWN
            else bigrams.next_token_probs(np.array([left]))[word]
        )
        before = 1.0 if right == UNKNOWN else bigrams.next_token_probs(np.array([word]))[right]
        expected[word] = float(after * before)
    total = sum(expected.values())
    found = NeighborModel.fit(tokens, VOCABULARY, candidate_ids=MAY_STAND).predict(
        np.full(5, left), np.full(5, right), MAY_STAND
    )
    np.testing.assert_allclose(
        np.exp(found.log_probs), [expected[word] / total for word in MAY_STAND.tolist()], rtol=1e-12
    )
    assert set(found.best.tolist()) == {max(expected, key=expected.__getitem__)}


def test_many_gaps_at_once_are_what_each_is_alone() -> None:
    model = NeighborModel.fit(stream(), VOCABULARY, candidate_ids=MAY_STAND)
    random = np.random.default_rng(4)
    left, right, truth = random.integers(-1, 7, 90), random.integers(-1, 7, 90), random.choice(MAY_STAND, 90)
    together = model.predict(left, right, truth)
    for place in range(90):
        alone = model.predict(left[place : place + 1], right[place : place + 1], truth[place : place + 1])
        assert (alone.best[0], alone.log_probs[0]) == (together.best[place], together.log_probs[place])


def test_both_sides_find_what_one_side_cannot() -> None:
    tokens = np.array([1, 5, 2, 3, 6, 4] * 50)  # 1 5 2 and 3 6 4
    found = NeighborModel.fit(tokens, VOCABULARY, candidate_ids=MAY_STAND).predict(
        np.array([1, 3]), np.array([2, 4]), np.array([5, 6])
    )
    assert found.best.tolist() == [5, 6]
    assert (np.exp(found.log_probs) > 0.99).all()


def test_without_a_look_the_most_frequent_token_is_the_guess() -> None:
    tokens = np.array([0] * 9 + [2] * 5 + [4] * 3 + [1])
    found = NeighborModel.fit(tokens, VOCABULARY, candidate_ids=MAY_STAND).predict_unigram(
        np.array([2, 4, 6])
    )
    assert found.best.tolist() == [2, 2, 2]
    assert found.log_probs[0] > found.log_probs[1] > found.log_probs[2] > -np.inf


def test_a_single_token_is_enough_to_learn_from() -> None:
    found = NeighborModel.fit(np.array([5]), VOCABULARY, candidate_ids=MAY_STAND).predict(
        np.array([2]), np.array([3]), np.array([6])
    )
    assert found.best.tolist() == [5]
    assert np.isfinite(found.log_probs).all()

"""Paired tests against every resample there is, plain binomial arithmetic, and how often they are right."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest

from seqlab.metrics.bootstrap import resample
from seqlab.metrics.items import macro_f1_items, mean_items
from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.paired_tests import (
    difference_with_interval,
    holm_adjust,
    mcnemar,
    paired_bootstrap,
    two_sided_p_value,
)

FIRST = np.array([1.0, 0.0, 1.0, 0.0, 0.3])
SECOND = np.array([1.0, 1.0, 1.0, 0.5, 0.2])
TWICE = mean_items(np.tile(FIRST, 2)), mean_items(np.tile(SECOND, 2))
"""Ten items, of which there are enough."""


def test_the_interval_is_that_of_all_resamples_there_are() -> None:
    """Five items have 3,125 equally likely resamples: their percentiles are the truth that drawing comes
    near.
    """
    draws = np.array(list(product(range(5), repeat=5)))
    every = difference_with_interval(0.0, (SECOND - FIRST)[draws].mean(axis=1), num_items=5)
    first, second = resample([mean_items(FIRST), mean_items(SECOND)], resamples=10_000)
    found = difference_with_interval(0.0, second - first, num_items=5)
    assert (found.low, found.high) == pytest.approx(
        (every.low, every.high), abs=0.021
    )  # sums are multiples of 0.02
    share = min((draws_below := (SECOND - FIRST)[draws].sum(axis=1) <= 1e-12).mean(), 1 - draws_below.mean())
    assert found.p == pytest.approx(2 * share, abs=0.02)


def test_lower_is_better_turns_the_sign() -> None:
    up = paired_bootstrap([TWICE[0]], [[TWICE[1]]], higher_is_better=True)[0]
    down = paired_bootstrap([TWICE[0]], [[TWICE[1]]], higher_is_better=False)[0]
    assert up.value == -down.value == pytest.approx((SECOND - FIRST).mean())
    assert down.p == pytest.approx(up.p)


def test_a_model_is_equal_to_itself_and_p_is_one() -> None:
    generator = np.random.default_rng(0)
    targets, predicted = generator.integers(3, size=(2, 50))
    items = macro_f1_items(targets, predicted, num_classes=3)
    found = paired_bootstrap([items], [[items]], higher_is_better=True)[0]
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert (found.verdict, found.is_significant) == ("equal", False)


def test_seeds_are_averaged_before_models_are_compared() -> None:
    generator = np.random.default_rng(1)
    runs = generator.random((4, 40))
    found = paired_bootstrap(
        [mean_items(runs[0]), mean_items(runs[1])],
        [[mean_items(runs[2]), mean_items(runs[3])]],
        higher_is_better=True,
        seed=0,
    )[0]
    joined = paired_bootstrap(
        [mean_items(runs[:2].mean(axis=0))],
        [[mean_items(runs[2:].mean(axis=0))]],
        higher_is_better=True,
        seed=0,
    )[0]
    assert found.value == pytest.approx(joined.value)
    assert (found.low, found.high) == pytest.approx((joined.low, joined.high))


@pytest.mark.parametrize(("only_first", "only_second"), [(0, 0), (7, 1), (12, 30)])
def test_mcnemar_is_binomial_arithmetic(only_first: int, only_second: int) -> None:
    first = np.array([True] * 5 + [True] * only_first + [False] * only_second + [False] * 3)
    second = np.array([True] * 5 + [False] * only_first + [True] * only_second + [False] * 3)
    found = mcnemar(first, second)
    count = only_first + only_second
    expected = min(
        1.0, 2 * sum(math.comb(count, k) for k in range(min(only_first, only_second) + 1)) / 2**count
    )
    assert (found.both, found.only_first, found.only_second, found.neither) == (5, only_first, only_second, 3)
    assert found.p == pytest.approx(expected, rel=1e-8)


def test_many_looks_are_corrected_for() -> None:
    assert holm_adjust([0.01, 0.02, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert holm_adjust([0.9, 0.6]) == [1.0, 1.0]
    three = paired_bootstrap([TWICE[0]], [[TWICE[1]], [TWICE[1]]], higher_is_better=True)
    assert three[0].holm_p == pytest.approx(min(1.0, 2 * three[0].p))


@pytest.mark.parametrize(
    ("value", "holm_p", "verdict"),
    [
        (0.1, 0.05, "clearly better"),
        (0.1, 0.06, "better"),
        (-0.1, 0.05, "clearly worse"),
        (-0.1, 0.06, "worse"),
    ],
)
def test_both_directions_need_the_p_value_that_is_corrected_for_several_models(
    value: float, holm_p: float, verdict: str
) -> None:
    low, high = sorted((value / 2, 2 * value))
    assert PairedDifference(value, low, high, 0.01, holm_p, 9_999, 500).verdict == verdict


@pytest.mark.parametrize("num_items", [1, 9])
def test_few_items_give_no_verdict_however_clear_they_look(num_items: int) -> None:
    found = paired_bootstrap(
        [mean_items(np.zeros(num_items))], [[mean_items(np.full(num_items, 0.022))]], higher_is_better=True
    )[0]
    assert (found.value, found.low, found.high, found.p, found.holm_p) == (
        pytest.approx(0.022),
        None,
        None,
        1.0,
        1.0,
    )
    assert not found.is_significant
    assert found.verdict == "too few"
    assert f"{num_items} row" in found.describe("B", "A")
    assert "better" not in found.describe("B", "A")
    assert json.loads(json.dumps(found.as_json()))["low"] is None


def test_two_scores_without_end_show_no_difference() -> None:
    """A model that gives a token no chance has an infinite loss; between two of them nothing can be told."""
    endless = mean_items(np.array([1.0, np.inf, 2.0] * 30))
    found = paired_bootstrap([endless], [[endless]], higher_is_better=False)[0]
    assert math.isnan(found.value)
    assert (found.p, found.is_significant) == (1.0, False)
    assert found.verdict == "incomparable"
    assert "cannot be compared" in found.describe("B", "A")


def test_a_difference_is_clear_exactly_if_its_interval_excludes_zero() -> None:
    generator = np.random.default_rng(4)
    verdicts = set()
    for _ in range(60):
        first, second = generator.random((2, 40)) < np.array([[0.5], [0.65]])
        found = paired_bootstrap([mean_items(first)], [[mean_items(second)]], higher_is_better=True)[0]
        assert found.low is not None
        assert found.high is not None
        assert found.is_significant == (found.low > 0 or found.high < 0)
        verdicts.add(found.is_significant)
    assert verdicts == {True, False}


def test_no_p_value_is_zero() -> None:
    assert two_sided_p_value(np.ones(999)) == pytest.approx(2 / 1000)


@pytest.mark.long
def test_the_interval_covers_the_true_difference_and_false_alarms_are_rare() -> None:
    """Two models that are right with 0.8 and 0.75, dependent on each other; and two that are equally good."""
    generator = np.random.default_rng(11)
    covered = alarms = 0
    for trial in range(400):
        hard = generator.random(300)
        first, second = hard < 0.8, (hard + 0.05 * generator.standard_normal(300)) < 0.75
        true = 0.75 - 0.8  # noise on both sides of the edge cancels out
        found = paired_bootstrap(
            [mean_items(first)], [[mean_items(second)]], higher_is_better=True, seed=trial
        )[0]
        covered += found.low <= true <= found.high
        twin = (hard + 0.1 * generator.standard_normal(300)) < 0.8
        alarms += paired_bootstrap(
            [mean_items(first)], [[mean_items(twin)]], higher_is_better=True, seed=trial
        )[0].is_significant
    assert 365 <= covered <= 393  # 380 expected, binomial spread 4.4
    assert alarms <= 34  # 20 expected

"""Bootstrap intervals: seeds, coverage, and agreement with resampling written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from sklearn.metrics import f1_score

from seqlab.core.errors import UsageError
from seqlab.metrics.bootstrap import (
    MIN_ITEMS,
    ConfidenceInterval,
    bootstrap_interval,
    percentile_interval,
    ratio_interval,
)
from seqlab.metrics.items import Items, SumItems, macro_f1_items, mean_items
from seqlab.metrics.score_with_interval import score_with_interval


def mean_interval(
    values: np.ndarray, *, seed: int | None = 0, resamples: int | None = 1000, level: float = 0.95
) -> ConfidenceInterval:
    return bootstrap_interval(mean_items(values), seed=seed, resamples=resamples, level=level)


class Median(Items):
    """A statistic that is no function of sums."""

    def __init__(self, values: np.ndarray) -> None:
        self.num_items = len(values)
        self._values = values

    def value(self, indices: np.ndarray) -> float:
        return float(np.median(self._values[indices]))


@pytest.mark.parametrize("probability", [0.5, 0.85])
def test_the_interval_of_an_accuracy_covers_the_truth_about_95_times_in_100(probability: float) -> None:
    generator = np.random.default_rng(5)
    covered = 0
    for trial in range(300):
        found = mean_interval(generator.random(200) < probability, seed=trial)
        covered += found.low <= probability <= found.high
    # 285 expected; the binomial spread of 300 trials is 3.8.
    assert 271 <= covered <= 297


@pytest.mark.parametrize("correct", [0, 60])
def test_answers_that_are_all_right_or_all_wrong_have_the_exact_interval_of_a_proportion(
    correct: int,
) -> None:
    exact = binomtest(correct, 60).proportion_ci(0.95, method="exact")
    score = score_with_interval("accuracy", mean_items(np.full(60, correct == 60)))
    assert (score.low, score.high) == pytest.approx((exact.low, exact.high), abs=1e-12)
    assert score.high - score.low > 0.05


def test_one_answer_of_another_kind_or_equal_measurements_keep_the_percentile_interval() -> None:
    measured = mean_interval(np.full(60, 3.0))
    assert (measured.low, measured.high) == (3.0, 3.0)
    almost = mean_interval(np.arange(60) > 0)
    assert almost.high == 1.0
    assert 0.9 < almost.low < 59 / 60


@pytest.mark.slow
def test_the_interval_of_a_ratio_covers_the_truth_about_95_times_in_100() -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for trial in range(300):
        lengths = generator.integers(5, 50, size=150)
        nats = 2.0 * lengths + generator.normal(0, 3.0, size=150) * np.sqrt(lengths)
        found = ratio_interval(nats, lengths, seed=trial, resamples=400)
        covered += found.low <= 2.0 <= found.high
    assert 269 <= covered <= 297


def test_the_interval_of_a_mean_has_the_width_of_theory() -> None:
    values = np.random.default_rng(3).exponential(size=4000)
    found = mean_interval(values)
    error = values.std() / math.sqrt(4000)
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)


def test_few_values_and_many_values_give_the_same_kind_of_interval() -> None:
    """Drawing how often each value comes and drawing examples are the same experiment."""
    values = np.random.default_rng(0).choice([0.0, 1.0, 4.0], size=3000, p=[0.5, 0.3, 0.2])
    fast = mean_interval(values, resamples=4000)
    one_by_one = SumItems(
        np.arange(3000), np.stack([values, np.ones(3000)], axis=1), mean_items(values).score
    )
    slow = bootstrap_interval(one_by_one, resamples=4000)
    width = slow.high - slow.low
    assert fast.low == pytest.approx(slow.low, abs=0.08 * width)
    assert fast.high == pytest.approx(slow.high, abs=0.08 * width)


@pytest.mark.slow
def test_the_interval_of_macro_f1_agrees_with_scikit_learn_on_drawn_examples() -> None:
    generator = np.random.default_rng(11)
    targets = generator.choice(4, size=300, p=[0.6, 0.25, 0.1, 0.05])
    predicted = np.where(generator.random(300) < 0.7, targets, generator.integers(0, 4, size=300))
    items = macro_f1_items(targets, predicted, num_classes=4)
    found = bootstrap_interval(items, resamples=3000)

    draws = generator.integers(300, size=(600, 300))
    scores = [f1_score(targets[d], predicted[d], average="macro", zero_division=0) for d in draws]
    expected = percentile_interval(np.array(scores))
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.12 * width)
    assert found.high == pytest.approx(expected.high, abs=0.12 * width)
    assert found.low < items.full_score() < found.high


def test_a_class_that_a_resample_does_not_have_is_left_out_of_its_mean() -> None:
    """All are right, so every draw is perfect; most draws of ten miss the second class, and none has the
    other two.
    """
    targets = np.array([0] * 9 + [1])
    items = macro_f1_items(targets, targets, num_classes=4)
    assert (items.full_score(), bootstrap_interval(items)) == (1.0, ConfidenceInterval(1.0, 1.0))


@pytest.mark.parametrize("num_values", [999, 1000, 9999, 37])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_as_many_values_lie_below_the_interval_as_above_it(num_values: int, level: float) -> None:
    values = np.random.default_rng(num_values).permutation(num_values).astype(float)
    found, mirrored = percentile_interval(values, level=level), percentile_interval(-values, level=level)
    assert (values < found.low).sum() == (values > found.high).sum()
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)
    inside = ((values >= found.low) & (values <= found.high)).mean()
    assert inside == pytest.approx(level, abs=4 / num_values)  # whole ranks


def test_intervals_of_many_accuracies_do_not_all_deviate_to_one_side() -> None:
    """The exact ends of a resampled accuracy are quantiles of a binomial distribution. Steps are 1 / n; drawn
    ends are within one step of them, and on average neither too low nor too high.
    """
    deviations = []
    for num_items in range(400, 2000, 40):
        for share in (0.5, 0.65, 0.82, 0.95):
            right = np.arange(num_items) < round(share * num_items)
            found = mean_interval(right, seed=None, resamples=None)
            resampled = binom(num_items, right.mean())
            exact = (resampled.ppf(0.025), resampled.isf(0.025))
            ends = np.array([found.low, found.high]) * num_items - exact
            assert np.abs(ends).max() <= max(1, 0.1 * resampled.std())
            deviations.append(ends.mean() / resampled.std())
    assert abs(np.mean(deviations)) < 0.01  # 160 independent deviations of about 0.03 standard errors


def test_the_same_data_has_the_same_interval_and_other_data_another_seed() -> None:
    values = np.random.default_rng(8).random(500)
    found = mean_interval(values, seed=None)
    assert found == mean_interval(values.copy(), seed=None)
    assert found != mean_interval(values, seed=0)
    shifted = mean_interval(values + 0.25, seed=None)
    assert (shifted.low - 0.25, shifted.high - 0.25) != pytest.approx((found.low, found.high), abs=1e-6)


def test_a_part_of_the_items_holds_nothing_of_the_others() -> None:
    whole = SumItems(
        np.arange(1000), np.random.default_rng(0).random((1000, 2)), mean_items(np.ones(1)).score
    )
    part = whole.subset(np.arange(12))
    assert part.table.shape == (12, 2)
    assert part.full_score() == pytest.approx(whole.value(np.arange(12)))


def test_the_seed_fixes_the_interval() -> None:
    values = np.random.default_rng(0).random(500)
    assert mean_interval(values, seed=4) == mean_interval(values, seed=4)
    assert mean_interval(values, seed=4) != mean_interval(values, seed=5)


def test_drawing_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(70)
    whole = mean_interval(values)
    monkeypatch.setattr("seqlab.metrics.bootstrap.MAX_DRAWN", 3 * 70)
    assert mean_interval(values) == whole


def test_any_statistic_of_the_drawn_examples_will_do() -> None:
    found = bootstrap_interval(Median(np.arange(101.0)))
    # The order statistics that bound the median with 95 %: 50 ± 1.96 · √101 / 2.
    assert found.low == pytest.approx(50 - 9.85, abs=2.5)
    assert found.high == pytest.approx(50 + 9.85, abs=2.5)


def test_an_impossible_target_makes_the_upper_end_infinite_without_a_warning() -> None:
    found = ratio_interval(np.array([3.0, 4.0, math.inf, 5.0, 2.5]), np.array([2, 2, 2, 2, 2]))
    assert found.low < 3.0
    assert found.high == math.inf
    assert mean_interval(np.array([1.0, math.inf])).high == math.inf


def test_one_example_gives_an_interval_of_no_width() -> None:
    found = mean_interval(np.array([0.25]))
    assert (found.low, found.high) == (0.25, 0.25)


def test_a_score_over_few_items_has_no_interval_and_says_so() -> None:
    values = np.random.default_rng(1).random(MIN_ITEMS)
    few, enough = (
        score_with_interval("loss", mean_items(values[:-1]), method="a mean"),
        score_with_interval("loss", mean_items(values), method="a mean"),
    )
    assert (few.value, few.low, few.high) == (pytest.approx(values[:-1].mean()), None, None)
    assert f"fewer than {MIN_ITEMS} rows" in few.method
    assert few.describe() == f"loss {few.value:.4f} (no 95% CI)"
    expected = mean_interval(values, seed=None, resamples=None)
    assert (enough.low, enough.high, enough.method) == (expected.low, expected.high, "a mean")


def test_a_higher_level_gives_a_wider_interval() -> None:
    values = np.random.default_rng(0).random(300)
    narrow, wide = mean_interval(values, level=0.5), mean_interval(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=r"such as 0\.95"):
        mean_interval(np.array([1.0, 0.0]), level=level)


def test_nothing_to_draw_from_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one example"):
        mean_interval(np.zeros(0))
    with pytest.raises(UsageError, match="at least one example"):
        bootstrap_interval(macro_f1_items(np.zeros(0, int), np.zeros(0, int), num_classes=3))
    with pytest.raises(UsageError, match="positive denominators"):
        ratio_interval(np.array([1.0]), np.array([0.0]))

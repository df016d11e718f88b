"""Scores of forecasts against plain arithmetic, their items, and the verdict on the network."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.score import Score
from seqlab.tasks.forecasting.scores import (
    ForecastTruth,
    forecast_items,
    forecast_scores,
    network_verdict,
    score_items,
)

LEVELS = (0.025, 0.1, 0.5, 0.9, 0.975)
WINDOWS = np.array([[0, 10], [0, 11], [1, 10]])
VALUES = np.array([[[1.0], [2.0]], [[4.0], [np.nan]], [[-1.0], [5.0]]])
MEDIAN = np.array([[[2.0], [2.0]], [[1.0], [9.0]], [[1.0], [5.0]]])
SCALES = np.array([[2.0], [2.0], [4.0]])
OFFSETS = np.array([-4.0, -1.5, 0.0, 1.5, 4.0])
TRUTH = ForecastTruth.of(VALUES, SCALES, WINDOWS)


def full_scores(
    truth: ForecastTruth, median: np.ndarray, *, naive2: np.ndarray | None = None
) -> dict[str, float]:
    items = forecast_items(truth, median[..., None] + OFFSETS, LEVELS, naive2=naive2)
    return {name: item.full_score() for name, item in items.items()}


def test_scores_of_one_target_are_in_its_units() -> None:
    scores = full_scores(TRUTH, MEDIAN)
    assert scores["mae"] == pytest.approx((1 + 0 + 3 + 2 + 0) / 5)
    assert scores["rmse"] == pytest.approx(math.sqrt((1 + 0 + 9 + 4 + 0) / 5))
    assert scores["mase"] == pytest.approx((0.5 + 0 + 1.5 + 0.5 + 0) / 5)
    assert scores["smape"] == pytest.approx((200 / 3 + 0 + 200 * 3 / 5 + 200 + 0) / 5)
    assert scores["coverage_80"] == pytest.approx(3 / 5)
    assert scores["coverage_95"] == 1.0
    losses = [
        max(level * (y - m - offset), (level - 1) * (y - m - offset))
        for y, m in [(1, 2), (2, 2), (4, 1), (-1, 1), (5, 5)]
        for level, offset in zip(LEVELS, OFFSETS, strict=True)
    ]
    assert scores["pinball"] == pytest.approx(sum(losses) / 25)


def test_owa_of_naive2_itself_is_one() -> None:
    assert full_scores(TRUTH, MEDIAN, naive2=MEDIAN)["owa"] == pytest.approx(1.0)
    assert "owa" not in full_scores(TRUTH, MEDIAN)


def test_several_targets_are_divided_by_their_scale() -> None:
    values = np.concatenate([VALUES, 1000 * VALUES], axis=2)
    median = np.concatenate([MEDIAN, 1000 * MEDIAN], axis=2)
    scales = np.concatenate([SCALES, 1000 * SCALES], axis=1)
    quantiles = median[..., None] + OFFSETS * np.array([1.0, 1000.0])[:, None]
    truth = ForecastTruth.of(values, scales, WINDOWS)
    both = {name: items.full_score() for name, items in forecast_items(truth, quantiles, LEVELS).items()}
    one = full_scores(ForecastTruth.of(VALUES, SCALES, WINDOWS), MEDIAN)
    assert both["mae"] == pytest.approx(one["mase"])
    assert both["mase"] == pytest.approx(one["mase"])
    assert both["coverage_80"] == pytest.approx(one["coverage_80"])


def test_a_series_that_was_constant_in_training_has_no_mase() -> None:
    scales = np.array([[2.0], [2.0], [np.nan]])
    scores = full_scores(ForecastTruth.of(VALUES, scales, WINDOWS), MEDIAN)
    assert scores["mase"] == pytest.approx((0.5 + 0 + 1.5) / 3)
    assert scores["mae"] == pytest.approx(6 / 5)
    assert "mase" not in full_scores(ForecastTruth.of(VALUES, np.full((3, 1), np.nan), WINDOWS), MEDIAN)


def test_few_series_have_blocks_of_origins_as_items_and_many_are_items_themselves() -> None:
    rolling = np.array([[number, origin] for number in range(3) for origin in range(50, 90)])
    items, unit = score_items(rolling, horizon=7)
    assert unit == "blocks"
    assert items.tolist() == [(origin - 50) // 7 for _, origin in rolling]
    many = np.array([[number, 30] for number in range(25)])
    assert score_items(many, horizon=7)[1] == "series"
    assert score_items(many, horizon=7)[0].tolist() == list(range(25))


def test_scores_stand_next_to_the_baseline_and_bands_next_to_their_nominal_value() -> None:
    generator = np.random.default_rng(0)
    windows = np.array([[0, origin] for origin in range(0, 120, 2)])
    truth = ForecastTruth.of(generator.normal(0, 1, (60, 2, 1)), np.ones((60, 1)), windows)
    good, bad = (
        forecast_items(truth, truth.values[..., None] + error + OFFSETS, LEVELS) for error in (0.1, 0.9)
    )
    scores = {
        score.name: score for score in forecast_scores(truth, good, baseline=bad, baseline_name="drift")
    }
    assert next(iter(scores)) == "mae"
    assert scores["mae"].value == pytest.approx(0.1)
    assert scores["mae"].baseline == pytest.approx(0.9)
    assert scores["mae"].verdict == "clearly better"
    assert "60 blocks" in scores["mae"].method
    assert scores["coverage_95"].baseline is None
    assert "nominal 95%" in scores["coverage_95"].describe()
    assert network_verdict(scores["mae"]) is None
    several = ForecastTruth.of(truth.values, truth.scales, np.array([[number, 5] for number in range(60)]))
    items = forecast_items(several, truth.values[..., None] + 0.1 + OFFSETS, LEVELS)
    assert forecast_scores(several, items, baseline=items, baseline_name="drift")[0].name == "mase"


def compared(gain: float, p: float, *, items: int = 40) -> Score:
    difference = PairedDifference(gain, gain - 1, gain + 1, p, p, 999, items, "blocks")
    return Score("mae", 1.62, 1.5, 1.7, 1.6, "ridge on the window", False, difference=difference)


def test_the_verdict_says_when_a_network_is_not_needed() -> None:
    equal = network_verdict(compared(0.02, 0.4))
    assert (
        equal
        == "A network is not needed here: ridge on the window does as well (MAE 1.600, the network 1.620)."
    )
    assert "does clearly better" in str(network_verdict(compared(-0.5, 0.001)))
    assert "8 blocks are too few" in str(network_verdict(compared(0.5, 0.001, items=8)))
    assert network_verdict(compared(0.5, 0.001)) is None
    assert network_verdict(Score("mae", 1.0)) is None

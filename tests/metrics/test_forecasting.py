"""Scores of forecasts by plain arithmetic, closed forms and published figures."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from seqlab.metrics.forecasting import ForecastErrors, QuantileErrors, level_weights, seasonal_scale

TRUTH = np.array([[1.0, 2.0], [4.0, np.nan], [-1.0, 0.0]])
PREDICTED = np.array([[2.0, 2.0], [1.0, 9.0], [1.0, 0.0]])
GROUPS = np.array([0, 0, 1])
ERRORS = ForecastErrors(TRUTH, PREDICTED, GROUPS)


def test_errors_are_means_over_known_truths() -> None:
    assert ERRORS.mae().full_score() == pytest.approx((1 + 0 + 3 + 2 + 0) / 5)
    assert ERRORS.rmse().full_score() == pytest.approx(math.sqrt((1 + 0 + 9 + 4 + 0) / 5))
    assert ERRORS.mase(np.array([0.5, 2.0, 4.0])).full_score() == pytest.approx((2 + 0 + 1.5 + 0.5 + 0) / 5)
    terms = [200 * 1 / 3, 0, 200 * 3 / 5, 200 * 2 / 2, 0]
    assert ERRORS.smape().full_score() == pytest.approx(sum(terms) / 5)


def test_items_are_groups_of_forecasts() -> None:
    assert ERRORS.mae().num_items == 2
    assert ERRORS.mae().value(np.array([0])) == pytest.approx(4 / 3)
    assert ERRORS.mae().value(np.array([1, 1])) == pytest.approx(1.0)
    assert ERRORS.rmse().value(np.array([1])) == pytest.approx(math.sqrt(2))


def test_owa_is_relative_to_naive2() -> None:
    scales = np.array([0.5, 2.0, 4.0])
    assert ERRORS.owa(PREDICTED, scales).full_score() == pytest.approx(1.0)
    naive2 = np.array([[3.0, 1.0], [2.0, 0.0], [2.0, 0.5]])
    other = ForecastErrors(TRUTH, naive2, GROUPS)
    expected = ERRORS.smape().full_score() / other.smape().full_score()
    expected += ERRORS.mase(scales).full_score() / other.mase(scales).full_score()
    assert ERRORS.owa(naive2, scales).full_score() == pytest.approx(expected / 2)


def test_pinball_loss_by_hand() -> None:
    quantiles = np.array([[[0.0, 3.0]]])  # levels 0.2 and 0.9, truth 1
    errors = QuantileErrors(np.array([[1.0]]), quantiles, (0.2, 0.9), np.array([0]))
    assert errors.pinball().full_score() == pytest.approx((0.2 * 1 + 0.1 * 2) / 2)


def test_crps_of_a_normal_is_the_closed_form() -> None:
    levels = tuple((np.arange(400) + 0.5) / 400)
    normal = NormalDist(3.0, 2.0)
    truths = np.array([[3.0, 5.5, -2.0]])
    quantiles = np.broadcast_to([normal.inv_cdf(level) for level in levels], (1, 3, 400))
    actual = QuantileErrors(truths, quantiles, levels, np.array([0])).crps().full_score()
    unit = NormalDist()

    def closed(truth: float) -> float:
        z = (truth - 3.0) / 2.0
        return 2.0 * (z * (2 * unit.cdf(z) - 1) + 2 * unit.pdf(z) - 1 / math.sqrt(math.pi))

    assert actual == pytest.approx(np.mean([closed(truth) for truth in truths[0]]), rel=2e-3)


def test_the_true_quantile_has_the_lowest_pinball_loss() -> None:
    truth = np.random.default_rng(0).exponential(size=(4000, 1))
    losses = [
        QuantileErrors(truth, np.full((4000, 1, 1), guess), (0.8,), np.arange(4000)).pinball().full_score()
        for guess in (-math.log(0.2) - 0.2, -math.log(0.2), -math.log(0.2) + 0.2)
    ]
    assert losses[1] < losses[0]
    assert losses[1] < losses[2]


def test_coverage_by_step_counts_known_truths() -> None:
    truth = np.array([[1.0, 5.0], [9.0, np.nan], [2.0, -1.0]])
    quantiles = np.broadcast_to([0.0, 4.0], (3, 2, 2))
    errors = QuantileErrors(truth, quantiles, (0.1, 0.9), np.array([0, 1, 2]))
    assert errors.coverage_by_step(0.1, 0.9).tolist() == pytest.approx([2 / 3, 0.0])
    assert errors.coverage(0.1, 0.9).full_score() == pytest.approx(2 / 5)


def test_weights_of_levels_fill_the_unit_interval() -> None:
    assert level_weights([0.05, 0.1, 0.4, 0.8]).sum() == pytest.approx(1.0)
    assert level_weights([0.5]).tolist() == [1.0]


def test_the_scale_of_mase_is_the_seasonal_change() -> None:
    values = np.array([3.0, 1.0, 4.0, np.nan, 5.0, 9.0])
    assert seasonal_scale(values, 2) == pytest.approx((1 + 1) / 2)  # 4-3 and 5-4; the others are missing
    assert math.isnan(seasonal_scale(np.full(9, 2.0), 3))

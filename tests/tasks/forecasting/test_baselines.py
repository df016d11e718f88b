"""Baselines of forecasting: fitted on training data, forecast from given origins, chosen on validation data."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.baselines.forecasting.base import Histories, Origins
from seqlab.baselines.forecasting.theta import Theta
from seqlab.tasks.forecasting.baselines import Baselines, most_accurate

RNG = np.random.default_rng(5)
STEPS = np.arange(130)
SERIES = [
    np.stack(
        [20 + number + 3 * np.sin(2 * np.pi * STEPS / 7), 100 + 0.5 * STEPS + number * np.cos(STEPS)], axis=1
    )
    + RNG.normal(0, 0.2, (130, 2))
    for number in range(3)
]
WINDOWS = np.array([[2, 100], [0, 101], [0, 120], [1, 125]])
BASELINES = Baselines.fit([values[:100] for values in SERIES], season=7, horizon=5)


def test_every_target_is_forecast_as_a_series_of_its_own() -> None:
    forecasts = BASELINES.forecast(SERIES, WINDOWS)
    for place, (number, origin) in enumerate(WINDOWS):
        for target in range(2):
            values = SERIES[number][:, target]
            assert forecasts["the last value"][place, :, target].tolist() == [values[origin - 1]] * 5
            assert (
                forecasts["seasonal naive"][place, :, target].tolist()
                == values[origin - 7 : origin - 2].tolist()
            )
            alone = Theta().fit(Histories.of([values[:100]]), season=7, horizon=5)
            expected = alone.forecast(
                Histories.of([values]), Origins(np.array([0]), np.array([origin])), horizon=5
            )
            np.testing.assert_allclose(forecasts["Theta"][place, :, target], expected[0], rtol=1e-12)


def test_scales_are_the_seasonal_changes_in_training() -> None:
    change = np.abs(SERIES[1][7:100, 1] - SERIES[1][:93, 1]).mean()
    assert BASELINES.scales_of(WINDOWS)[3, 1] == pytest.approx(change)


def test_values_after_the_origin_change_no_forecast_even_with_gaps() -> None:
    with_gaps = [values.copy() for values in SERIES]
    for values in with_gaps:
        values[[40, 41, 97], :] = np.nan
        values[122:124] = np.nan
    expected = BASELINES.forecast(with_gaps, WINDOWS)
    for place, (number, origin) in enumerate(WINDOWS):
        changed = [values.copy() for values in with_gaps]
        changed[number][origin:] += 50.0
        actual = BASELINES.forecast(changed, WINDOWS)
        for name, forecast in expected.items():
            assert actual[name][place].tolist() == forecast[place].tolist(), (name, place)


def test_without_a_season_there_are_no_seasonal_methods() -> None:
    names = set(Baselines.fit([SERIES[0][:40]], season=1, horizon=2).fitted)
    assert names == {
        "the last value",
        "drift",
        "Theta",
        "damped exponential smoothing",
        "ridge on the window",
    }


def test_methods_that_need_longer_series_are_left_out() -> None:
    fitted = Baselines.fit([np.array([[1.0], [2.0], [4.0]])], season=1, horizon=5).fitted
    assert "ridge on the window" not in fitted
    assert "drift" in fitted


def test_the_best_method_is_chosen_in_units_of_each_series() -> None:
    truth = np.array([[[1.0]], [[100.0]], [[np.nan]]])
    small = np.array([[[3.0]], [[100.0]], [[0.0]]])  # 2 units off, where the unit is 1
    large = np.array([[[1.0]], [[110.0]], [[9.0]]])  # 10 off, where the unit is 100
    scales = np.array([[1.0], [100.0], [1.0]])
    assert most_accurate({"small": small, "large": large}, truth, scales) == "large"
    assert most_accurate({"small": small, "large": large}, truth, np.full((3, 1), np.nan)) == "small"
    assert most_accurate({"first": small, "second": small}, truth, scales) == "first"

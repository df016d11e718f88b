"""Each method against plain arithmetic, a direct search, and published figures."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from seqlab.baselines.forecasting.base import ForecastMethod, Histories, Origins
from seqlab.baselines.forecasting.damped_trend import DampedTrend, FittedDampedTrend
from seqlab.baselines.forecasting.naive import Drift, Persistence, SeasonalNaive
from seqlab.baselines.forecasting.naive2 import Naive2
from seqlab.baselines.forecasting.seasonal_adjustment import SeasonalAdjustment
from seqlab.baselines.forecasting.theta import SKIPPED, FittedTheta, Theta
from seqlab.baselines.forecasting.window_ridge import OFFSETS, WindowRidge, _examples, _origins, solutions

DATA = Path(__file__).parents[4] / "shared" / "data"
VALUES = np.array([3.0, 5.0, 4.0, 8.0, 9.0, 7.0, 12.0, 11.0, 13.0, 12.5, 15.0, 14.0])


def forecast(method: ForecastMethod, values: np.ndarray, *, horizon: int, season: int = 1) -> list[float]:
    histories = Histories.of([values])
    fitted = method.fit(histories, season=season, horizon=horizon)
    return fitted.forecast(histories, Origins.at_ends(histories), horizon=horizon)[0].tolist()


def test_naive_methods_repeat_what_they_say() -> None:
    assert forecast(Persistence(), VALUES, horizon=3) == [14.0] * 3
    assert forecast(Drift(), VALUES, horizon=2) == pytest.approx([15.0, 16.0])  # (14 - 3) / 11 per step
    assert forecast(SeasonalNaive(), VALUES, horizon=5, season=3) == [12.5, 15.0, 14.0, 12.5, 15.0]
    assert forecast(SeasonalNaive(), VALUES[:2], horizon=2, season=3) == [5.0, 5.0]


def theta_errors(
    values: np.ndarray, alpha: float, level: float, share: float
) -> tuple[np.ndarray, list[float]]:
    """The equations of the paper, one step at a time: the errors, and three forecasts."""
    mean = intercept = values[0]
    slope = 0.0
    level = alpha * values[0] + (1 - alpha) * level
    errors, forecasts = [], []
    for t in range(2, len(values) + 4):
        trend = (1 - alpha) ** (t - 1) * intercept + (1 - (1 - alpha) ** t) / alpha * slope
        predicted = level + share * trend
        if t <= len(values):
            value = values[t - 1]
            errors.append(value - predicted)
        else:
            value = predicted
            forecasts.append(predicted)
        level = alpha * value + (1 - alpha) * level
        slope = ((t - 2) * slope + 6 * (value - mean) / t) / (t + 1)
        mean = ((t - 1) * mean + value) / t
        intercept = mean - slope * (t + 1) / 2
    return np.array(errors), forecasts


def test_theta_continues_the_equations_of_the_paper() -> None:
    histories = Histories.of([VALUES])
    fitted = Theta().fit(histories, season=1, horizon=3)
    assert isinstance(fitted, FittedTheta)
    parameters = (fitted.alpha[0], fitted.level[0], fitted.share[0])
    actual = fitted.forecast(histories, Origins.at_ends(histories), horizon=3)[0]
    np.testing.assert_allclose(actual, theta_errors(VALUES, *parameters)[1], rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_theta_finds_parameters_as_good_as_a_search_over_all_three(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 30 + np.cumsum(rng.normal(0.2, 1.0, 60)) + rng.normal(0, 1.0, 60)

    def loss(parameters: np.ndarray) -> float:
        alpha, level, share = np.clip(parameters, [0.01, -1e9, 0.0], [0.99, 1e9, 1.0])
        return float((theta_errors(values, alpha, level, share)[0][SKIPPED - 1 :] ** 2).sum())

    starts = [np.array([alpha, values[0], share]) for alpha in (0.1, 0.5, 0.9) for share in (0.1, 0.5)]
    searched = min(
        minimize(loss, start, method="Nelder-Mead", options={"maxiter": 2000}).fun for start in starts
    )
    fitted = Theta().fit(Histories.of([values]), season=1, horizon=1)
    assert isinstance(fitted, FittedTheta)
    ours = loss(np.array([fitted.alpha[0], fitted.level[0], fitted.share[0]]))
    assert ours <= 1.001 * searched


def test_the_slope_of_theta_is_that_of_the_least_squares_line() -> None:
    from seqlab.baselines.forecasting.theta import State

    alpha = np.array([0.4])
    state = State.start(VALUES[:1], np.zeros(1), alpha)
    for value in VALUES[1:]:
        state = state.after(np.array([value]), alpha)
    slope, intercept = np.polyfit(np.arange(1, len(VALUES) + 1), VALUES, 1)
    assert state.slope[0] == pytest.approx(slope)
    assert state.intercept[0] == pytest.approx(intercept)


def smoothing_errors(
    values: np.ndarray, alpha: float, beta: float, damping: float, level: float, trend: float
):
    errors = []
    for value in values:
        predicted = level + damping * trend
        error = value - predicted
        errors.append(error)
        level, trend = predicted + alpha * error, damping * trend + alpha * beta * error
    forecasts = [level + trend * sum(damping**step for step in range(1, ahead + 1)) for ahead in (1, 2, 3)]
    return np.array(errors), forecasts


def test_damped_smoothing_follows_its_equations_with_the_best_initial_state() -> None:
    histories = Histories.of([VALUES])
    fitted = DampedTrend().fit(histories, season=1, horizon=3)
    assert isinstance(fitted, FittedDampedTrend)
    parameters = [*fitted.parameters[:, 0], fitted.level[0], fitted.trend[0]]
    errors, expected = smoothing_errors(VALUES, *parameters)
    actual = fitted.forecast(histories, Origins.at_ends(histories), horizon=3)[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-10)
    for place in (3, 4):  # no other initial level or trend is better
        for change in (-0.01, 0.01):
            other = [value + change * (number == place) for number, value in enumerate(parameters)]
            assert (smoothing_errors(VALUES, *other)[0] ** 2).sum() > (errors**2).sum()


@pytest.mark.parametrize("multiplies", [True, False])
def test_seasons_that_were_built_in_are_found_again(multiplies: bool) -> None:
    index = np.array([0.8, 1.1, 1.3, 0.8]) if multiplies else np.array([-2.0, 1.0, 3.0, -2.0])
    level = np.linspace(10, 20, 41)[:40] if multiplies else np.linspace(-5, 5, 41)[:40]
    values = level * np.resize(index, 40) if multiplies else level + np.resize(index, 40)
    adjustment = SeasonalAdjustment.fit(Histories.of([values]), season=4)
    assert adjustment.multiplies.tolist() == [multiplies]
    np.testing.assert_allclose(adjustment.indices[:, 0], index, atol=0.01)
    np.testing.assert_allclose(adjustment.remove(Histories.of([values])).values[:, 0], level, rtol=0.02)
    future = adjustment.restore(np.ones((1, 6)), Origins(np.array([0]), np.array([39])))
    expected = np.resize(index, 45)[39:] * 1.0 if multiplies else 1.0 + np.resize(index, 45)[39:]
    np.testing.assert_allclose(future[0], expected, atol=0.02)


def test_ridge_solves_the_normal_equations() -> None:
    rng = np.random.default_rng(5)
    inputs, targets = rng.normal(size=(50, 7)), rng.normal(size=(50, 3))
    gram = inputs.T @ inputs
    for strength, weights in solutions(inputs, targets):
        unit = strength * np.trace(gram) / 7
        np.testing.assert_allclose((gram + unit * np.eye(7)) @ weights, inputs.T @ targets, atol=1e-8)


def test_ridge_reproduces_a_linear_recurrence() -> None:
    values = [1.0, 1.3]
    for _ in range(200):
        values.append(1.6 * values[-1] - 0.9 * values[-2] + 0.5)
    series = np.array(values[:60]) + 10
    actual = forecast(WindowRidge(), series, horizon=4)
    np.testing.assert_allclose(actual, np.array(values[60:64]) + 10, atol=0.02)


def test_windows_and_targets_of_the_ridge_do_not_overlap_the_held_out_part() -> None:
    histories = Histories.of([np.arange(40.0), np.arange(100.0, 130.0)])
    inner, later = _origins(histories, 6, 3)
    assert (inner.steps + 3 <= np.array([32, 24])[inner.series]).all()
    assert (later.steps >= np.array([32, 24])[later.series]).all()
    inputs, targets = _examples(histories, inner, 6, 3, OFFSETS["none"], np.ones(2))
    assert inputs[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert targets[0].tolist() == [6, 7, 8]


def delhi(name: str) -> np.ndarray:
    path = DATA / "daily_climate" / f"DailyDelhiClimate{name}.csv"
    with path.open() as file:
        return np.array([float(row["meantemp"]) for row in csv.DictReader(file)])


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
@pytest.mark.slow
def test_published_errors_on_the_climate_of_delhi() -> None:
    """Dynamic optimized theta of statsforecast 2.1.1 has an RMSE of 2.383 over 114 days, the last year 3.249."""
    train, test = delhi("Train")[:-1], delhi("Test")  # the last date of the one is the first of the other
    whole, origin = (
        Histories.of([np.concatenate([train, test])]),
        Origins(np.array([0]), np.array([len(train)])),
    )

    def rmse(method: ForecastMethod, season: int) -> float:
        fitted = method.fit(Histories.of([train]), season=season, horizon=len(test))
        forecasts = fitted.forecast(whole, origin, horizon=len(test))[0]
        return float(np.sqrt(((forecasts - test) ** 2).mean()))

    assert rmse(Theta(), 365) == pytest.approx(2.383, abs=0.001)
    assert rmse(SeasonalNaive(), 365) == pytest.approx(3.249, abs=0.001)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
@pytest.mark.slow
def test_naive2_has_the_official_errors_of_the_m4_competition() -> None:
    """Hourly series: sMAPE 18.383, MASE 2.395 (Makridakis et al. 2020)."""
    train, test = (read_m4(name) for name in ("train", "test"))
    smape, mase = m4_errors(Naive2(), train, test)
    assert smape == pytest.approx(18.383, abs=0.001)
    assert mase == pytest.approx(2.395, abs=0.001)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
@pytest.mark.slow
def test_ridge_on_the_window_beats_the_published_linear_model_of_the_m4_competition() -> None:
    """Hourly series: OWA 0.655 for a pooled linear model in closed form."""
    smape, mase = m4_errors(WindowRidge(), *(read_m4(name) for name in ("train", "test")))
    assert (smape / 18.383 + mase / 2.395) / 2 < 0.64


def m4_errors(method: ForecastMethod, train: list[np.ndarray], test: list[np.ndarray]) -> tuple[float, float]:
    """sMAPE and MASE of hourly series."""
    histories, truth = Histories.of(train), np.array(test)
    fitted = method.fit(histories, season=24, horizon=48)
    forecasts = fitted.forecast(histories, Origins.at_ends(histories), horizon=48)
    error = np.abs(forecasts - truth)
    scales = np.array([np.abs(values[24:] - values[:-24]).mean() for values in train])
    smape = (200 * error / (np.abs(forecasts) + np.abs(truth))).mean()
    return float(smape), float((error / scales[:, None]).mean())


def read_m4(name: str) -> list[np.ndarray]:
    with lzma.open(DATA / "m4_hourly" / f"Hourly-{name}.csv.xz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    return [np.array([float(cell) for cell in row[1:] if cell]) for row in rows]

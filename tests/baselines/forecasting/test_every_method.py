"""What every method promises: it never looks past the origin, and a batch of series changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.baselines.forecasting.base import ForecastMethod, Histories, Origins
from seqlab.baselines.forecasting.methods import METHODS

RNG = np.random.default_rng(3)


def wave(steps: int, *, season: int = 7, slope: float = 0.1, noise: float = 0.3) -> np.ndarray:
    time_steps = np.arange(steps)
    return 20 + slope * time_steps + 3 * np.sin(2 * np.pi * time_steps / season) + RNG.normal(0, noise, steps)


SERIES = [wave(90), wave(120, slope=-0.05), wave(61, slope=0.3)]
ORIGINS = Origins(np.array([0, 1, 1, 2, 2]), np.array([70, 71, 100, 50, 61]))
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


@each_method
def test_values_after_the_origin_change_no_forecast_by_one_bit(method: ForecastMethod) -> None:
    fitted = method.fit(Histories.of([series[:45] for series in SERIES]), season=7, horizon=5)
    whole = Histories.of(SERIES)
    expected = fitted.forecast(whole, ORIGINS, horizon=5)
    for place in range(len(ORIGINS)):
        number, steps = ORIGINS.series[place], ORIGINS.steps[place]
        changed = [series.copy() for series in SERIES]
        changed[number][steps:] += 1000.0
        actual = fitted.forecast(Histories.of(changed), ORIGINS, horizon=5)
        assert actual[place].tolist() == expected[place].tolist()


@pytest.mark.parametrize("method", METHODS[:-1], ids=lambda method: method.name)  # ridge shares its weights
def test_a_series_is_forecast_as_if_it_were_alone(method: ForecastMethod) -> None:
    together = method.fit(Histories.of(SERIES), season=7, horizon=9)
    forecasts = together.forecast(Histories.of(SERIES), Origins.at_ends(Histories.of(SERIES)), horizon=9)
    for number, series in enumerate(SERIES):
        alone = Histories.of([series])
        expected = method.fit(alone, season=7, horizon=9).forecast(alone, Origins.at_ends(alone), horizon=9)
        np.testing.assert_allclose(forecasts[number], expected[0], rtol=1e-12)


@each_method
def test_a_constant_series_is_continued(method: ForecastMethod) -> None:
    constant = Histories.of([np.full(60, 4.5)])
    fitted = method.fit(constant, season=7, horizon=3)
    np.testing.assert_allclose(
        fitted.forecast(constant, Origins.at_ends(constant), horizon=3), 4.5, rtol=1e-9
    )


@each_method
def test_units_do_not_matter(method: ForecastMethod) -> None:
    small, large = Histories.of(SERIES), Histories.of([1000 * series for series in SERIES])
    small_forecasts, large_forecasts = (
        method.fit(histories, season=7, horizon=4).forecast(histories, Origins.at_ends(histories), horizon=4)
        for histories in (small, large)
    )
    np.testing.assert_allclose(1000 * small_forecasts, large_forecasts, rtol=1e-6)


@each_method
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_very_short_series_give_finite_forecasts(method: ForecastMethod, steps: int) -> None:
    short = Histories.of([np.arange(1.0, steps + 1), np.arange(40.0)])
    fitted = method.fit(short, season=12, horizon=2)
    assert np.isfinite(fitted.forecast(short, Origins.at_ends(short), horizon=2)).all()


@pytest.mark.slow
def test_methods_are_better_than_the_last_value_on_a_seasonal_trend() -> None:
    train = Histories.of([series[:-7] for series in SERIES])
    truth = np.stack([series[-7:] for series in SERIES])
    whole = Histories.of(SERIES)

    def error(method: ForecastMethod) -> float:
        fitted = method.fit(train, season=7, horizon=7)
        return float(np.abs(fitted.forecast(whole, Origins.at_ends(train), horizon=7) - truth).mean())

    errors = {method.name: error(method) for method in METHODS}
    for name in ("seasonal naive", "Theta", "damped exponential smoothing", "ridge on the window"):
        assert errors[name] < 0.6 * errors["the last value"], errors


def test_gaps_are_interpolated_before_a_method_sees_them() -> None:
    with_gap = SERIES[0].copy()
    with_gap[[3, 10, 11]] = np.nan
    assert np.isfinite(Histories.of([with_gap]).values).all()
    np.testing.assert_allclose(Histories.of([with_gap]).values[10, 0], (2 * with_gap[9] + with_gap[12]) / 3)

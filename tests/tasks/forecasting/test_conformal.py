"""Conformal correction of forecast bands: the rank by hand, and coverage on simulated data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seqlab.tasks.codec import Codec
from seqlab.tasks.forecasting.conformal import FEWEST, ForecastCalibration

LEVELS = (0.025, 0.1, 0.5, 0.9, 0.975)
NO_CODEC: Codec = None  # type: ignore[assignment]  # corrections do not depend on it


def noise(windows: int, seed: int, *, horizon: int = 6) -> np.ndarray:
    """Exchangeable errors of two targets, which grow with the step."""
    generator = np.random.default_rng(seed)
    grow = np.sqrt(np.arange(1, horizon + 1))[:, None] * [1.0, 20.0]
    return generator.standard_t(4, (windows, horizon, 2)) * grow


def bands_of(windows: int, widths: tuple[float, ...], *, horizon: int = 6) -> np.ndarray:
    return np.broadcast_to(widths, (windows, horizon, 2, 5)).copy()


def coverage(truth: np.ndarray, quantiles: np.ndarray, low: int, high: int) -> np.ndarray:
    return ((quantiles[..., low] <= truth) & (truth <= quantiles[..., high])).mean(axis=(0, 2))


def test_the_correction_has_the_finite_sample_rank() -> None:
    truth = np.arange(1.0, FEWEST + 1).reshape(-1, 1, 1)  # errors 1 … 300 of a band without width
    fitted = ForecastCalibration.fit(
        truth, np.zeros((FEWEST, 1, 1, 3)), (0.1, 0.5, 0.9), np.full((FEWEST, 1), 2.0)
    )
    assert fitted.corrections == (((241 / 2,),),)  # ⌈301 · 0.8⌉ = 241, in units of the scale
    corrected = fitted.apply(np.full((1, 1, 1, 3), 10.0), np.array([[4.0]]))
    assert corrected.ravel().tolist() == [10 - 482, 10, 10 + 482]


@pytest.mark.parametrize("widths", [(-0.1, -0.05, 0.0, 0.05, 0.1), (-90.0, -80.0, 0.0, 80.0, 90.0)])
def test_bands_that_are_far_too_narrow_or_wide_hold_what_they_promise_at_every_step(
    widths: tuple[float, ...],
) -> None:
    scales = [np.full((n, 2), [1.0, 20.0]) for n in (2000, 4000)]
    fitted = ForecastCalibration.fit(noise(2000, 1), bands_of(2000, widths), LEVELS, scales[0])
    corrected = fitted.apply(bands_of(4000, widths), scales[1])
    truth = noise(4000, 2)
    np.testing.assert_allclose(coverage(truth, corrected, 1, 3), 0.8, atol=0.03)
    np.testing.assert_allclose(coverage(truth, corrected, 0, 4), 0.95, atol=0.03)
    assert (np.diff(corrected, axis=-1) >= 0).all()
    assert (corrected[..., 2] == 0).all()


@pytest.mark.parametrize("windows", [30, 60])
def test_few_origins_borrow_the_errors_of_neighboring_steps(windows: int) -> None:
    horizon = 24
    widths = (-0.1, -0.05, 0.0, 0.05, 0.1)
    held = []
    for seed in range(16):
        truth = noise(windows, seed, horizon=horizon)
        scales = np.full((windows, 2), [1.0, 20.0])
        fitted = ForecastCalibration.fit(truth, bands_of(windows, widths, horizon=horizon), LEVELS, scales)
        fresh = noise(200, seed + 1000, horizon=horizon)
        corrected = fitted.apply(bands_of(200, widths, horizon=horizon), np.full((200, 2), [1.0, 20.0]))
        held.append([coverage(fresh, corrected, *band).mean() for band in ((1, 3), (0, 4))])
    np.testing.assert_allclose(np.mean(held, axis=0), [0.8, 0.95], atol=0.03)


def test_every_step_has_its_own_correction_when_there_are_enough_errors() -> None:
    truth = np.zeros((FEWEST, 2, 1))
    truth[:, 1] = 5.0
    fitted = ForecastCalibration.fit(
        truth, np.zeros((FEWEST, 2, 1, 3)), (0.1, 0.5, 0.9), np.ones((FEWEST, 1))
    )
    assert fitted.corrections == (((0.0,), (5.0,)),)


def test_missing_truths_and_constant_series_are_left_out() -> None:
    truth = np.full((FEWEST, 1, 1), 3.0)
    truth[:7] = np.nan
    scales = np.ones((FEWEST, 1))
    scales[7:9] = np.nan
    fitted = ForecastCalibration.fit(truth, np.zeros((FEWEST, 1, 1, 3)), (0.1, 0.5, 0.9), scales)
    assert fitted.corrections == (((3.0,),),)
    kept = fitted.apply(np.array([[[[1.0, 2.0, 3.0]]]]), np.array([[np.nan]]))
    assert kept.ravel().tolist() == [1.0, 2.0, 3.0]
    nothing = ForecastCalibration.fit(truth[:7], np.zeros((7, 1, 1, 3)), (0.1, 0.5, 0.9), scales[:7])
    assert nothing.corrections == (((0.0,),),)


def test_json_keeps_every_bit() -> None:
    fitted = ForecastCalibration.fit(
        noise(50, 3), bands_of(50, (-2.0, -1.0, 0.0, 1.0, 2.0)), LEVELS, np.ones((50, 2))
    )
    assert ForecastCalibration.from_json(json.loads(json.dumps(fitted.to_json())), NO_CODEC) == fitted
    assert ForecastCalibration.from_json({}, NO_CODEC) == ForecastCalibration()
    quantiles = bands_of(3, (-2.0, -1.0, 0.0, 1.0, 2.0))
    assert (ForecastCalibration().apply(quantiles, np.ones((3, 2))) == quantiles).all()


@pytest.mark.parametrize(
    "choices",
    [
        {"corrections": [[[1.0]]]},
        {"levels": [0.1, 0.5, 0.9], "corrections": [[1.0]]},
        {"levels": [0.1, 0.5, 0.9], "corrections": [[[1.0]], [[1.0]]]},
        {"levels": [0.1, 0.5, 0.9], "corrections": [[["wide"]]]},
        {"levels": [0.1, 0.5, 0.9], "corrections": [[[float("nan")]]]},
        {"levels": 0.5, "corrections": [[[1.0]]]},
    ],
)
def test_a_file_with_other_corrections_is_rejected(choices: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="corrections"):
        ForecastCalibration.from_json(choices, NO_CODEC)

"""Calibration against plain loops and a grid of temperatures."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.metrics.calibration import (
    apply_temperature,
    calibration_error_items,
    expected_calibration_error,
    fit_temperature,
    reliability_curve,
)

RNG = np.random.default_rng(3)
TARGETS = RNG.integers(4, size=300)
LOGITS = 3 * RNG.normal(size=(300, 4))
LOGITS[np.arange(300), TARGETS] += 2
LOG_PROBS = apply_temperature(LOGITS, 1.0)


def loss_at(temperature: float) -> float:
    """Of 300 targets each keeps 301/302 and leaves the rest to the three other classes."""
    log_probs = apply_temperature(LOG_PROBS, temperature)
    right = log_probs[np.arange(300), TARGETS]
    return float(-(301 / 302 * right + 1 / 302 / 3 * (log_probs.sum(axis=1) - right)).mean())


def test_the_temperature_is_the_best_of_a_grid() -> None:
    grid = np.exp(np.linspace(np.log(2), np.log(8), 701))
    best = grid[int(np.argmin([loss_at(temperature) for temperature in grid]))]
    found = fit_temperature(LOG_PROBS, TARGETS)
    assert found == pytest.approx(best, rel=2e-3)
    assert loss_at(found) <= loss_at(best)
    assert found > 1.2  # logits three times too large


def test_the_temperature_changes_no_answer_and_softens_as_torch_does() -> None:
    import torch

    soft = apply_temperature(LOG_PROBS, 2.5)
    assert (soft.argmax(axis=1) == LOG_PROBS.argmax(axis=1)).all()
    np.testing.assert_allclose(soft, torch.from_numpy(LOGITS / 2.5).log_softmax(dim=-1).numpy(), atol=1e-12)


def test_a_few_examples_that_are_all_right_do_not_make_a_model_certain() -> None:
    log_probs = np.log(np.array([[0.9, 0.1]] * 5))
    softened = np.exp(apply_temperature(log_probs, fit_temperature(log_probs, np.zeros(5, dtype=np.int64))))
    assert softened[0, 0] == pytest.approx(6 / 7)  # as if one of seven had been wrong


def test_the_error_is_the_mean_gap_over_bins() -> None:
    confidence, correct = RNG.uniform(0.25, 1.0, size=200), RNG.random(200) < 0.6
    expected = 0.0
    for low in range(10):
        here = (confidence > low / 10) & (confidence <= (low + 1) / 10)
        if here.any():
            expected += here.mean() * abs(correct[here].mean() - confidence[here].mean())
    assert expected_calibration_error(reliability_curve(confidence, correct)) == pytest.approx(expected)
    assert calibration_error_items(confidence, correct).full_score() == pytest.approx(expected)


def test_a_bin_takes_its_upper_end_and_not_its_lower_one() -> None:
    """Two sure answers at 0.5 belong to 0.4..0.5, not to 0.5..0.6, so they share a bin with 0.45."""
    confidence, correct = np.array([0.5, 0.5, 0.45, 0.55]), np.array([True, True, False, False])
    curve = reliability_curve(confidence, correct)
    assert [(entry.count, entry.accuracy) for entry in curve] == [(3, pytest.approx(2 / 3)), (1, 0.0)]
    assert curve[0].confidence == pytest.approx((0.5 + 0.5 + 0.45) / 3)
    gaps = 3 * abs(2 / 3 - 1.45 / 3) + 0.55
    assert expected_calibration_error(curve) == pytest.approx(gaps / 4)
    assert calibration_error_items(confidence, correct).full_score() == pytest.approx(gaps / 4)
    lowest, highest = reliability_curve(np.array([0.0, 1.0]), np.array([False, True]))
    assert (lowest.confidence, highest.confidence) == (0.0, 1.0)  # both ends are in a bin

"""A temperature is kept where it helps held-out data, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.metrics.calibration import (
    apply_temperature,
    expected_calibration_error,
    fit_temperature,
    reliability_curve,
)
from seqlab.metrics.temperature_choice import MIN_EXAMPLES, NO_TEMPERATURE, choose_temperature


def draw(num_examples: int, *, overconfidence: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets drawn from a softmax, and log-probabilities of the same logits times a factor."""
    generator = np.random.default_rng(seed)
    logits = 2 * generator.normal(size=(num_examples, 4))
    noise = generator.gumbel(size=logits.shape)
    return apply_temperature(logits * overconfidence, 1.0), (logits + noise).argmax(axis=1)


def ece(log_probs: np.ndarray, targets: np.ndarray) -> float:
    confidence, correct = np.exp(log_probs.max(axis=1)), log_probs.argmax(axis=1) == targets
    return expected_calibration_error(reliability_curve(confidence, correct))


@pytest.mark.parametrize("overconfidence", [0.5, 2.5])
def test_a_temperature_that_helps_is_kept_and_is_that_of_all_examples(overconfidence: float) -> None:
    log_probs, targets = draw(400, overconfidence=overconfidence, seed=1)
    found = choose_temperature(log_probs, targets)
    assert found == fit_temperature(log_probs, targets)
    assert found == pytest.approx(overconfidence, rel=0.25)


def test_a_calibrated_model_keeps_its_probabilities_in_most_cases() -> None:
    """A fitted temperature would change them in all cases, and in most of them for the worse."""
    kept = worse = 0
    for seed in range(40):
        log_probs, targets = draw(150, overconfidence=1.0, seed=seed)
        others, other_targets = draw(1500, overconfidence=1.0, seed=1000 + seed)
        temperature = choose_temperature(log_probs, targets)
        kept += temperature == NO_TEMPERATURE
        worse += ece(apply_temperature(others, temperature), other_targets) > 1.5 * ece(others, other_targets)
    assert kept >= 28
    assert worse <= 6
    always = [
        ece(apply_temperature(others, fit_temperature(log_probs, targets)), other_targets)
        > 1.5 * ece(others, other_targets)
        for seed in range(40)
        for log_probs, targets in [draw(150, overconfidence=1.0, seed=seed)]
        for others, other_targets in [draw(1500, overconfidence=1.0, seed=1000 + seed)]
    ]
    assert sum(always) > 2 * worse


def test_few_examples_choose_no_temperature() -> None:
    log_probs, targets = draw(MIN_EXAMPLES, overconfidence=4.0, seed=0)
    assert choose_temperature(log_probs[:-1], targets[:-1]) == NO_TEMPERATURE
    assert choose_temperature(log_probs, targets) > 2


def test_examples_that_are_all_right_still_give_a_finite_temperature() -> None:
    log_probs = apply_temperature(np.array([[2.0, 0.0]] * 60), 1.0)
    assert 0 < choose_temperature(log_probs, np.zeros(60, np.int64)) < 1

"""Forecasters learn what no naive forecast knows: the shape of a noisy wave, and what a known column says."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import seqlab

SMALL = (
    "training.threads=1",
    "training.evaluate_every=100",
    "training.batch_size=32",
    "forecasting.context=24",
)
NETWORKS = {
    "lstm": ("model.hidden_size=16", "model.dropout=0"),
    "gru": ("model.hidden_size=16", "model.dropout=0"),
    "cnn": ("model.hidden_size=16", "model.layers=2", "model.dropout=0"),
    "transformer": ("model.hidden_size=32", "model.heads=2", "model.layers=2", "forecasting.patch=4"),
    "fixed_window": (),
    "linear": (),
}
NOISE, PERIOD = 0.1, 3.1
HORIZON = 6


def write_wave(path: Path, *, steps: int = 900) -> Path:
    """A sine whose period is no whole number of steps, so that no season repeats exactly."""
    chance = random.Random(6)
    values = [10 + math.sin(step / PERIOD) + chance.gauss(0, NOISE) for step in range(steps)]
    path.write_text("t,value\n" + "".join(f"{step},{value:.4f}\n" for step, value in enumerate(values)))
    return path


@pytest.mark.spec(12)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("lstm", "linear") else pytest.mark.long)
        for name in NETWORKS
    ],
)
def test_a_forecaster_learns_a_noisy_wave(model: str, tmp_path: Path) -> None:
    run = seqlab.train(
        write_wave(tmp_path / "wave.csv"),
        *SMALL,
        *NETWORKS[model],
        "task=forecasting",
        "data.time=t",
        "data.target=value",
        f"data.horizon={HORIZON}",
        "training.learning_rate=0.01",
        model=model,
        steps=500,
        seed=1,
        out=tmp_path / "run",
    )
    rmse = run.results["rmse"]
    # No forecast is better than the noise; that of a test part of 90 steps is within 15% of NOISE (two deviations).
    assert 0.85 * NOISE < rmse.value < 1.25 * NOISE
    assert rmse.high < persistence_rmse() / 5


def persistence_rmse() -> float:
    """The expected error of the last value: twice the noise, and how far the wave has moved.

    The mean of (sin(x + d) - sin x)² over x is 1 - cos d.
    """
    moved = [1 - math.cos(step / PERIOD) for step in range(1, HORIZON + 1)]
    return math.sqrt(2 * NOISE**2 + sum(moved) / HORIZON)

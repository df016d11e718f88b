"""Under a time budget, the time for scoring is forecast once more when the model has learned something."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.training import loop
from seqlab.training.loop import SHARE_BEFORE_FORECAST, TrainingLoop
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import Clock
from tests.training.toy_task import make_trainer


def timed_trainer(folder: Path, *, after: float) -> TrainingLoop:
    """Planned with `after` seconds of 100 for scoring; an update takes a second."""
    trainer = make_trainer(folder, steps=0, minutes=100 / 60, evaluate_every=5, patience=0)
    trainer.budget = trainer.budget.timed(before=0.0, after=after)
    return trainer


def test_it_is_repeated_once_after_three_tenths_of_the_training_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    trainer = timed_trainer(tmp_path, after=30.0)
    asked: list[float] = []
    trainer.forecast_scoring = lambda: (asked.append(trainer.seconds), 4.0)[1]
    assert trainer.run(StopRequest())
    assert len(asked) == 1
    assert SHARE_BEFORE_FORECAST * 70 <= asked[0] <= SHARE_BEFORE_FORECAST * 70 + 10  # the next validation
    assert trainer.budget.after == 4
    assert 70 < trainer.seconds <= 97  # the time that it frees is for training


def test_a_longer_forecast_ends_training_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    trainer = timed_trainer(tmp_path, after=2.0)
    trainer.forecast_scoring = lambda: 28.0
    assert trainer.run(StopRequest())
    assert trainer.budget.training_seconds == pytest.approx(72)
    assert trainer.seconds <= 73


def test_its_own_time_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0)
    monkeypatch.setattr(loop, "perf_counter", clock)
    trainer = timed_trainer(tmp_path, after=10.0)

    def slow() -> float:
        clock.now += 20
        return 10.0

    trainer.forecast_scoring = slow
    assert trainer.run(StopRequest())
    assert clock.now <= 93


def test_a_run_in_steps_does_not_ask(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=20, evaluate_every=5)
    trainer.forecast_scoring = lambda: pytest.fail("there is no time to divide")
    assert trainer.run(StopRequest())

"""What a training prints while it runs, without a terminal: some tens of lines, however long it is."""

from __future__ import annotations

import pytest

from seqlab.cli import progress
from seqlab.cli.progress import TerminalProgress
from seqlab.training.base import StepReport, Validation


class Clock:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def lines_of(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    steps: int,
    every: int,
    step_seconds: float,
    first: int = 1,
) -> list[str]:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    with TerminalProgress() as callback:
        for step in range(first, steps + 1):
            clock.now += step_seconds
            callback.on_step(StepReport(step, steps, 0, 1.0, 0.1, (steps - step) * step_seconds))
            if step % every == 0:
                callback.on_validation(
                    step, Validation(1.0, higher_is_better=False, facts={"valid_loss": 1.0}), is_best=True
                )
    return capsys.readouterr().err.splitlines()


def test_ten_hours_and_hundreds_of_validations_are_some_tens_of_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(monkeypatch, capsys, steps=9000, every=30, step_seconds=4.0)
    validations = [line for line in lines if "valid_loss" in line]
    assert 20 <= len(validations) <= 25
    assert validations[-1].startswith("step 9,000:")
    assert 15 <= len(lines) - len(validations) <= 20


def test_a_short_run_shows_every_validation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(monkeypatch, capsys, steps=100, every=10, step_seconds=0.5)
    assert [line.partition(":")[0] for line in lines if "valid_loss" in line] == [
        f"step {step}" for step in range(10, 101, 10)
    ]
    assert len([line for line in lines if "steps/s" in line]) == 5  # one in ten seconds


def test_a_resumed_run_shows_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(monkeypatch, capsys, steps=100, every=10, step_seconds=0.5, first=71)
    assert [line.partition(":")[0] for line in lines if "valid_loss" in line] == [
        "step 80",
        "step 90",
        "step 100",
    ]


def test_a_rate_is_left_out_until_it_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes two updates since the start or the last validation."""
    every_step = lines_of(monkeypatch, capsys, steps=6, every=3, step_seconds=60.0)
    lines = [line for line in every_step if "loss 1.0000" in line and "valid" not in line]
    assert ["steps/s" in line for line in lines] == [False, True, True, False, True, True]
    assert all(line.endswith(" left") for line in lines)

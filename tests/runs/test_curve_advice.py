"""Advice after training follows from the validation curve."""

from __future__ import annotations

from typing import Any

import pytest

from seqlab.runs.report.curve_advice import curve_shape, training_advice


def journal(*losses: float | None, every: int = 100) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"event": "started", "step": 0}]
    for number, loss in enumerate(losses, start=1):
        events.append({"event": "validated", "step": number * every, "valid_loss": loss})
    return events


OVERFITTING = journal(1.2, 0.9, 0.56, 0.7, 0.9, 1.03)
IMPROVING = journal(4.0, 3.0, 2.5, 2.2, 2.0, 1.8, 1.7, 1.6)
PLATEAU = journal(4.0, 2.0, 1.01, 1.0, 1.0, 1.001, 1.0, 1.002)


def test_overfitting_is_never_answered_with_more_time() -> None:
    advice = training_advice(OVERFITTING, minutes=1)
    assert all(
        fact in advice
        for fact in ("overfitting", "step 300", "0.5600", "1.0300", "model.dropout", "weight_decay", "data")
    )
    assert "--minutes" not in advice
    assert "steps=" not in advice


@pytest.mark.parametrize(
    ("minutes", "longer"), [(3, "--minutes 6"), (0.3, "--minutes 0.6"), (0, "steps=1600")]
)
def test_a_curve_that_still_falls_gets_more_time(minutes: float, longer: str) -> None:
    advice = training_advice(IMPROVING, minutes=minutes)
    assert "improving" in advice
    assert longer in advice


def test_a_plateau_gets_other_things() -> None:
    advice = training_advice(PLATEAU, minutes=3)
    assert "plateau" in advice
    assert "--model" in advice
    assert "--minutes" not in advice


def test_too_few_or_missing_losses_say_nothing() -> None:
    assert training_advice(journal(3.0, 2.0), minutes=1) == ""
    assert training_advice(journal(None, None, None, None, None), minutes=1) == ""
    assert training_advice([], minutes=1) == ""


def test_noise_below_the_threshold_is_no_overfitting() -> None:
    assert curve_shape([(1, 2.0), (2, 1.0), (3, 1.01), (4, 1.02)]) == "plateau"


def test_early_stopping_on_a_falling_loss_names_patience_instead_of_more_time() -> None:
    finished = {"event": "finished", "step": 800, "reason": "early stopping"}
    advice = training_advice([*IMPROVING, finished], minutes=3)
    assert "training.patience" in advice
    assert "1.6000" in advice
    assert "--minutes" not in advice
    assert "--minutes 6" in training_advice([*IMPROVING, {**finished, "reason": "budget"}], minutes=3)

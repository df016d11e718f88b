"""A plan of too few epochs warns before training, with the minutes that would be enough."""

from __future__ import annotations

import re

import pytest

from seqlab.recipes.read import check
from seqlab.runs.train.plan import plan_warnings
from seqlab.training.budget import Budget
from seqlab.training.forecast import Forecast


def warnings(
    *, task: str = "classification", minutes: float = 5, before: float = 10.0, **training: float
) -> list[str]:
    recipe = check(
        {
            "task": task,
            "model": {"kind": "recurrent", "hidden_size": 64},
            "training": {"minutes": minutes, **training},
            "data": {"train": "x"},
        },
        where="test",
    )
    forecast = Forecast(
        step_seconds=0.5, validation_seconds=1.0, steps_per_epoch=1000, num_parameters=1, peak_memory=None
    )
    budget = Budget.plan(
        recipe.training,
        steps_per_epoch=forecast.steps_per_epoch,
        step_seconds=forecast.step_seconds,
        validation_seconds=forecast.validation_seconds,
        before=before,
        after=5.0,
    )
    return plan_warnings(recipe, budget, forecast, scoring_seconds=5.0)


def test_less_than_three_epochs_warns_with_the_minutes_that_suffice() -> None:
    [warning] = warnings(minutes=5)
    assert "0.5 epochs" in warning
    assert "model.hidden_size=32" in warning
    named = re.search(r"--minutes (\d+)", warning)
    assert named is not None
    assert warnings(minutes=float(named[1])) == []


def test_epochs_or_steps_that_were_asked_for_are_no_mistake() -> None:
    assert warnings(minutes=100, epochs=2) == []
    assert warnings(minutes=100, steps=10) == []
    assert warnings(minutes=0, steps=10) == []


def test_a_text_needs_one_epoch() -> None:
    assert warnings(task="language_model", minutes=12) == []
    assert "1 epoch:" in warnings(task="language_model", minutes=5)[0]


def test_reading_that_takes_most_of_the_time_is_said() -> None:
    [slow] = [warning for warning in warnings(minutes=5, before=250.0) if "preparing the data" in warning]
    assert "250 s of a time budget of 300 s" in slow


@pytest.mark.parametrize("before", [60.0, 250.0])
def test_slow_reading_and_few_epochs_name_the_same_minutes(before: float) -> None:
    both = warnings(minutes=before / 60, before=before)
    assert len(both) == 2
    [minutes] = {named for warning in both for named in re.findall(r"--minutes (\d+)", warning)}
    assert warnings(minutes=float(minutes), before=before) == []

from __future__ import annotations

import math
from typing import Any

import pytest

from seqlab.training.budget import Budget
from seqlab.training.settings import TrainingSettings


def plan(
    *,
    steps_per_epoch: int = 40,
    step_seconds: float = 0.1,
    validation_seconds: float = 1.0,
    before: float = 0.0,
    after: float = 0.0,
    **settings: Any,
) -> Budget:
    return Budget.plan(
        TrainingSettings.model_validate(settings),
        steps_per_epoch=steps_per_epoch,
        step_seconds=step_seconds,
        validation_seconds=validation_seconds,
        before=before,
        after=after,
    )


def test_steps_are_taken_as_they_are() -> None:
    assert plan(steps=1000) == Budget(1000, 40, most_steps=1000, planned_steps=1000)


def test_epochs_are_as_many_batches_as_they_have() -> None:
    assert plan(epochs=2.5).total_steps == 100
    assert plan(epochs=0.001).total_steps == 1


def test_a_run_validates_every_epoch_and_ten_times_but_not_more_often_than_every_25_steps() -> None:
    assert plan(epochs=20).evaluate_every == 40
    assert plan(steps=300).evaluate_every == 30
    assert plan(steps=100).evaluate_every == 25
    assert plan(steps=3).evaluate_every == 3


def test_evaluate_every_decides_otherwise() -> None:
    assert plan(steps=100, evaluate_every=33).evaluate_every == 33
    assert plan(minutes=1, evaluate_every=33).evaluate_every == 33


def test_minutes_become_steps_with_a_tenth_left_for_validation() -> None:
    budget = plan(minutes=2)
    assert (budget.seconds, budget.total_steps) == (120, 1080)
    assert budget.total_steps / budget.evaluate_every * 1.0 <= 12


def test_validation_that_is_slow_happens_seldom() -> None:
    budget = plan(minutes=1, validation_seconds=5)
    assert math.ceil(budget.total_steps / budget.evaluate_every) == 1


def test_minutes_and_steps_end_at_whichever_comes_first() -> None:
    assert plan(minutes=1, steps=50).total_steps == 50
    assert plan(minutes=1, steps=5000).total_steps == 540


def test_five_minutes_when_nothing_is_said() -> None:
    assert plan().seconds == 300


def test_a_step_longer_than_the_budget_is_still_one_step() -> None:
    assert plan(minutes=0.1, step_seconds=100).total_steps == 1


def test_a_run_slower_than_foreseen_is_cut_and_a_faster_one_goes_further() -> None:
    budget = plan(minutes=1)
    assert budget.adjusted(step=100, seconds=30).total_steps == 200
    assert budget.adjusted(step=100, seconds=5).total_steps == 1200
    assert budget.adjusted(step=100, seconds=70).total_steps == 100


def test_steps_that_were_asked_for_are_never_exceeded() -> None:
    assert plan(minutes=1, steps=150).adjusted(step=100, seconds=5).total_steps == 150
    assert plan(steps=150).adjusted(step=100, seconds=5) == plan(steps=150)


def test_nothing_is_concluded_from_no_steps() -> None:
    assert plan(minutes=1).adjusted(step=0, seconds=0) == plan(minutes=1)


def test_it_is_spent_by_steps_or_by_time() -> None:
    budget = Budget(10, 5, seconds=60)
    assert [
        budget.is_spent(step=step, seconds=seconds) for step, seconds in [(9, 59.9), (10, 1), (1, 60)]
    ] == [False, True, True]
    assert not Budget(10, 5).is_spent(step=9, seconds=1e9)


def test_time_left_follows_from_the_speed_and_never_passes_the_budget() -> None:
    assert Budget(100, 5).seconds_left(step=25, seconds=10, step_seconds=0.4) == pytest.approx(30)
    assert Budget(100, 5, seconds=20).seconds_left(step=25, seconds=10, step_seconds=0.4) == pytest.approx(10)
    assert Budget(100, 5, seconds=20).seconds_left(step=99, seconds=25, step_seconds=0.25) == 0


# The time budget is for the whole command


def test_training_gets_the_time_between_reading_and_scoring() -> None:
    budget = plan(minutes=2, before=20.0, after=10.0)
    assert (budget.seconds, budget.training_seconds) == (120, 90)
    assert budget.total_steps == 810  # 0.1 s per step, a tenth for validation
    assert budget.is_spent(step=400, seconds=89.0)  # the last validation takes a second
    assert budget.scoring_seconds(seconds=90) == 10
    assert budget.scoring_seconds(seconds=40) == 60  # early stopping leaves more


def test_scoring_is_kept_three_tenths_of_what_reading_leaves() -> None:
    budget = plan(minutes=2, before=20.0, after=300.0)
    assert budget.after == pytest.approx(30)
    assert budget.training_seconds == pytest.approx(70)


def test_a_tenth_is_for_training_however_long_reading_took() -> None:
    budget = plan(minutes=1, before=500.0, after=30.0)
    assert budget.training_seconds == pytest.approx(6)
    assert budget.scoring_seconds(seconds=6) < 0


def test_steps_without_minutes_know_no_time() -> None:
    budget = plan(steps=100, before=500.0, after=30.0)
    assert budget == plan(steps=100)
    assert math.isinf(budget.training_seconds)
    assert math.isinf(budget.scoring_seconds(seconds=1e6))


def test_a_shorter_forecast_of_scoring_gives_time_to_training() -> None:
    budget = plan(minutes=2, before=20.0, after=30.0)
    again = budget.timed(before=budget.before, after=2.0).adjusted(step=budget.evaluate_every, seconds=9.0)
    assert again.training_seconds == 98
    assert again.total_steps > budget.total_steps


# Early stopping


@pytest.mark.parametrize(
    ("validations", "expected"), [(1, 5), (10, 5), (20, 5), (24, 6), (40, 10), (100, 25)]
)
def test_default_patience_is_a_quarter_of_the_planned_validations_and_at_least_five(
    validations: int, expected: int
) -> None:
    assert Budget(validations * 7, 7).patience(-1) == expected


def test_a_given_patience_is_used_as_written_and_zero_disables_it() -> None:
    budget = Budget(1000, 10)
    assert [budget.patience(value) for value in (0, 1, 3)] == [0, 1, 3]


def test_a_run_of_hundreds_of_epochs_validates_some_tens_of_times() -> None:
    for settings in ({"epochs": 303}, {"steps": 9104}, {"minutes": 16, "validation_seconds": 0.001}):
        budget = plan(steps_per_epoch=30, **settings)  # type: ignore[arg-type]
        assert 20 <= math.ceil(budget.total_steps / budget.evaluate_every) <= 50


# A run shorter than its recipe planned


def test_the_share_of_the_plan_follows_the_speed() -> None:
    budget = plan(steps=5400, minutes=1)
    assert (budget.total_steps, budget.share) == (540, 0.1)
    assert budget.adjusted(step=100, seconds=30).share == 200 / 5400
    assert plan(steps=100, minutes=1).share == plan(steps=100).share == plan(minutes=1).share == 1
    assert plan(steps=50, epochs=5).share == 50 / 200  # steps decide; what was planned in epochs is longer


def test_intervals_between_validations_shrink_with_the_plan_but_leave_time_to_train() -> None:
    scaled = {"evaluate_every": 500, "scale_with_budget": ("evaluate_every",)}
    assert plan(steps=5400, minutes=1, validation_seconds=0.01, **scaled).evaluate_every == 50
    assert (
        plan(steps=5400, minutes=1, validation_seconds=1, **scaled).evaluate_every == 90
    )  # six validations fill a tenth of the time
    assert plan(steps=50, epochs=25, **scaled).evaluate_every == 25
    assert plan(steps=5400, minutes=1, validation_seconds=1, evaluate_every=20).evaluate_every == 20


def test_the_plan_is_checked_early_and_before_the_first_validation_only() -> None:
    budget = plan(minutes=2)
    assert budget.evaluate_every == 90
    assert [step for step in range(200) if budget.is_checked_early(step=step)] == [8, 16, 32, 64]
    assert not any(plan(steps=1000).is_checked_early(step=step) for step in range(100))


def test_an_early_check_keeps_time_for_validation_and_moves_the_first_one() -> None:
    budget = plan(minutes=2, steps_per_epoch=1000)
    assert (budget.total_steps, budget.evaluate_every) == (1080, 108)
    slow = budget.adjusted(step=8, seconds=2.4)  # 0.3 s per step in place of 0.1
    assert (slow.total_steps, slow.evaluate_every) == (360, 36)
    slower = budget.adjusted(step=8, seconds=24)
    assert (slower.total_steps, slower.evaluate_every) == (36, 25)
    fast = budget.adjusted(step=8, seconds=0.5)
    assert (fast.total_steps, fast.evaluate_every) == (1728, 173)
    assert (
        plan(minutes=2, evaluate_every=108, steps_per_epoch=1000).adjusted(step=8, seconds=2.4).evaluate_every
        == 108
    )


def test_a_validation_that_takes_more_than_a_tenth_of_the_time_is_planned_for() -> None:
    budget = plan(minutes=1, validation_seconds=20)
    assert budget.total_steps == 400
    assert budget.adjusted(step=64, seconds=6.4).total_steps == 400
    assert not budget.is_spent(step=300, seconds=39.9)
    assert budget.is_spent(step=300, seconds=40)


def test_half_of_the_time_is_for_training_however_slow_validation_is() -> None:
    budget = plan(minutes=1, validation_seconds=90)
    assert budget.total_steps == 300
    assert [
        budget.is_spent(step=step, seconds=seconds) for step, seconds in [(0, 59), (299, 29), (299, 30)]
    ] == [False, False, True]


def test_a_plan_that_is_done_goes_on_only_if_there_is_time_for_another_interval() -> None:
    budget = plan(minutes=1, validation_seconds=1)
    assert (budget.total_steps, budget.evaluate_every) == (540, 90)
    assert budget.adjusted(step=540, seconds=57).total_steps == 540
    assert budget.adjusted(step=540, seconds=30).total_steps == 1080

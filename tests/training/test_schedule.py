from __future__ import annotations

import math

import pytest

from seqlab.training.budget import scale_counts
from seqlab.training.schedule import constant_warmup, cosine_warmup, learning_rate
from seqlab.training.settings import TrainingSettings


@pytest.mark.spec(100)
def test_cosine_warmup_is_the_lectures_for_three_and_fifty_epochs() -> None:
    batches = 7
    warmup, longest = 3 * batches, 50 * batches
    for step in range(longest + 1):
        expected = 0.5 * (1 + math.cos(math.pi * step / longest))
        if step <= warmup:
            expected *= step / warmup
        assert cosine_warmup(step, warmup_steps=warmup, decay_steps=longest) == pytest.approx(
            expected, abs=1e-15
        )


@pytest.mark.spec(100)
def test_some_values_worked_out_by_hand() -> None:
    assert cosine_warmup(0, warmup_steps=3, decay_steps=50) == 0
    assert cosine_warmup(3, warmup_steps=3, decay_steps=50) == pytest.approx(0.9911436253643443)
    assert cosine_warmup(25, warmup_steps=3, decay_steps=50) == pytest.approx(0.5)
    assert cosine_warmup(50, warmup_steps=3, decay_steps=50) == pytest.approx(0)


@pytest.mark.spec(100)
def test_the_recipe_sets_warmup_and_end_of_the_cosine() -> None:
    settings = TrainingSettings(learning_rate=0.2, warmup_steps=3, decay_steps=50)
    assert learning_rate(2, settings, total_steps=10) == pytest.approx(
        0.2 * 0.5 * (1 + math.cos(math.pi * 2 / 50)) * 2 / 3
    )
    assert learning_rate(9, settings, total_steps=10) == pytest.approx(
        0.2 * 0.5 * (1 + math.cos(math.pi * 9 / 50))
    )


def test_after_its_end_the_cosine_stays_at_zero() -> None:
    assert cosine_warmup(130, warmup_steps=3, decay_steps=100) == pytest.approx(0)


def test_by_default_a_twentieth_warms_up_and_the_last_update_still_moves() -> None:
    settings = TrainingSettings(learning_rate=1.0)
    rates = [learning_rate(step, settings, total_steps=200) for step in range(1, 201)]
    assert rates[:10] == sorted(rates[:10])
    assert max(rates) == rates[9]
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert 0 < rates[-1] < 1e-3


def test_without_warmup_the_first_update_has_the_whole_rate() -> None:
    assert (
        learning_rate(
            1, TrainingSettings(learning_rate=0.3, warmup_steps=0, schedule="constant"), total_steps=5
        )
        == 0.3
    )


def test_constant_stays_after_the_warmup() -> None:
    assert [constant_warmup(step, warmup_steps=4) for step in (1, 3, 4, 100)] == [0.25, 0.75, 1.0, 1.0]


def test_a_scaled_schedule_is_the_recipe_s_in_small() -> None:
    settings = TrainingSettings(
        learning_rate=0.2,
        warmup_steps=300,
        decay_steps=5000,
        scale_with_budget=("warmup_steps", "decay_steps"),
    )
    whole = [learning_rate(step, settings, total_steps=1000) for step in range(10, 1001, 10)]
    tenth = [learning_rate(step, scale_counts(settings, 0.1), total_steps=100) for step in range(1, 101)]
    assert tenth == pytest.approx(whole)

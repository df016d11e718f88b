from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from seqlab.training import loop
from seqlab.training.averaging import CheckpointAverage
from seqlab.training.base import StepReport
from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.loop import TrainingLoop
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import Clock, StopAt, events, outcome
from tests.training.toy_task import Points, make_trainer, small_model


@pytest.mark.slow
def test_the_saved_weights_are_the_moving_average_written_out(tmp_path: Path) -> None:
    task = Points(values=[1.0, 2.0])  # the averaged weights are validated first, and are the better ones
    trainer = make_trainer(
        tmp_path,
        task=task,
        steps=30,
        evaluate_every=30,
        learning_rate=0.1,
        schedule="constant",
        ema_decay=0.7,
    )
    seen: list[dict[str, torch.Tensor]] = [
        {name: each.detach().clone() for name, each in trainer.model.named_parameters()}
    ]

    class Keep(StopAt):
        def on_step(self, report: object) -> None:
            seen.append({name: each.detach().clone() for name, each in trainer.model.named_parameters()})

    trainer.callback = Keep(0)
    trainer.run(StopRequest())
    saved = read_weights(tmp_path / "model.safetensors")
    for name, start in seen[0].items():
        expected = start.double()
        for step, weights in enumerate(seen[1:], start=1):
            share = min(0.7, step / (step + 9))  # 0.1, 0.18, …: the first weights count for nothing soon
            expected = share * expected + (1 - share) * weights[name].double()
        torch.testing.assert_close(saved[name].double(), expected, rtol=1e-5, atol=1e-6)
        assert not torch.allclose(saved[name], seen[-1][name], atol=1e-4)


def test_training_goes_on_with_its_own_weights_as_if_nothing_were_averaged(tmp_path: Path) -> None:
    averaged, plain = (
        make_trainer(tmp_path / str(decay), ema_decay=decay, learning_rate=0.1) for decay in (0.9, 0.0)
    )
    for trainer in (averaged, plain):
        trainer.run(StopRequest())
    for ours, theirs in zip(averaged.model.parameters(), plain.model.parameters(), strict=True):
        assert ours.equal(theirs)
    assert averaged.model.training


@pytest.mark.parametrize("stop_at", [4, 13])
def test_stopping_and_going_on_keeps_the_average_to_the_bit(stop_at: int, tmp_path: Path) -> None:
    whole, parts = (make_trainer(tmp_path / name, dropout=0.3, ema_decay=0.9) for name in ("whole", "parts"))
    torch.manual_seed(9)
    whole.save()
    assert whole.run(StopRequest())
    torch.manual_seed(9)
    parts.save()
    parts.callback = callback = StopAt(stop_at)
    assert not parts.run(callback.request)
    later = make_trainer(
        tmp_path / "parts", dropout=0.3, ema_decay=0.9, model=small_model(dropout=0.3, seed=99)
    )
    saved, _ = Checkpoints(tmp_path / "parts" / "checkpoints").load()
    assert saved is not None
    later.resume(saved)
    assert later.run(StopRequest())
    assert outcome(later) == outcome(whole)


def test_two_averages_at_once_are_refused() -> None:
    with pytest.raises(
        ValidationError,
        match=r"(?s)ema_decay=0\.9 .*average_checkpoints=3 .*to 0\.",
    ):
        TrainingSettings(ema_decay=0.9, average_checkpoints=3)


def test_the_last_weights_are_averaged_as_a_plain_mean_and_kept_over_a_resume(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "steps": 30,
        "evaluate_every": 30,
        "learning_rate": 0.1,
        "average_checkpoints": 3,
        "average_every": 5,
    }
    whole, parts = (
        make_trainer(tmp_path / name, task=Points(values=[1.0, 2.0]), **settings) for name in "ab"
    )
    seen: list[dict[str, torch.Tensor]] = []

    class Keep(StopAt):
        def on_step(self, report: object) -> None:
            seen.append({name: each.detach().clone() for name, each in whole.model.named_parameters()})

    whole.callback = Keep(0)
    whole.run(StopRequest())
    saved = read_weights(tmp_path / "a" / "model.safetensors")
    for name in seen[0]:
        torch.testing.assert_close(saved[name], (seen[19][name] + seen[24][name] + seen[29][name]) / 3)
        assert not torch.allclose(saved[name], seen[-1][name], atol=1e-5)
    parts.callback = callback = StopAt(22)
    assert not parts.run(callback.request)
    checkpoint, _ = Checkpoints(tmp_path / "b" / "checkpoints").load()
    assert checkpoint is not None
    later = make_trainer(
        tmp_path / "b", task=Points(values=[1.0, 2.0]), model=small_model(seed=99), **settings
    )
    later.resume(checkpoint)
    assert later.run(StopRequest())
    for name, tensor in read_weights(tmp_path / "b" / "model.safetensors").items():
        assert tensor.equal(saved[name])


# The better of averaged and last weights is saved


def loss_of(weights: dict[str, torch.Tensor]) -> float:
    model = small_model()
    model.load_state_dict(weights)
    return float(Points().validate(model.eval()).value)


@pytest.mark.parametrize(
    "average", [{"average_checkpoints": 8, "average_every": 5}, {"ema_decay": 0.99}], ids=["last", "moving"]
)
def test_a_run_shorter_than_its_average_saves_nothing_worse_than_its_last_weights(
    average: dict[str, Any], tmp_path: Path
) -> None:
    trainer = make_trainer(tmp_path, steps=40, evaluate_every=40, learning_rate=0.03, **average)
    trainer.run(StopRequest())
    last = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    with trainer.average.in_place():
        assert loss_of(trainer.model.state_dict()) > loss_of(
            last
        )  # the average reaches back to where nothing was learned
    assert loss_of(read_weights(tmp_path / "model.safetensors")) <= loss_of(last)
    assert trainer.progress.best_weights == "last"


def test_the_better_weights_of_every_validation_count_and_are_recorded(tmp_path: Path) -> None:
    values = [3.0, 4.0, 2.5, 2.0, 1.0, 1.0, 1.5, 1.2]  # averaged and last, at each of four validations
    trainer = make_trainer(tmp_path, task=Points(values=values), ema_decay=0.9, learning_rate=0.1)
    kept: dict[int, dict[str, dict[str, torch.Tensor]]] = {}

    class Keep(StopAt):
        def on_validation(self, step: int, *_: object, **__: object) -> None:
            kept[step] = {
                "last": {name: each.detach().clone() for name, each in trainer.model.named_parameters()}
            }
            with trainer.average.in_place():
                kept[step]["averaged"] = {
                    name: each.detach().clone() for name, each in trainer.model.named_parameters()
                }

    trainer.callback = Keep(0)
    trainer.run(StopRequest())
    lines = events(trainer, "validated")
    assert [line["weights"] for line in lines] == ["averaged", "last", "averaged", "last"]
    assert [line["candidates"] for line in lines] == [
        {"averaged": first, "last": second} for first, second in zip(values[::2], values[1::2], strict=True)
    ]
    assert [line["best"] for line in lines] == [True, True, True, False]
    assert (trainer.best_step, trainer.progress.best_weights) == (15, "averaged")  # equally good: the average
    assert trainer.progress.candidates == {"averaged": 1.0, "last": 1.0}
    saved = read_weights(tmp_path / "model.safetensors")
    assert all(saved[name].equal(tensor) for name, tensor in kept[15]["averaged"].items())
    assert not all(saved[name].equal(tensor) for name, tensor in kept[15]["last"].items())


def test_the_last_weights_are_saved_as_they_are_where_they_are_better(tmp_path: Path) -> None:
    trainer = make_trainer(
        tmp_path, task=Points(values=[2.0, 1.0]), steps=8, evaluate_every=8, ema_decay=0.9, learning_rate=0.1
    )
    trainer.run(StopRequest())
    saved = read_weights(tmp_path / "model.safetensors")
    assert all(saved[name].equal(tensor) for name, tensor in trainer.model.state_dict().items())


def test_a_run_that_averages_nothing_is_validated_once_and_says_nothing_about_it(tmp_path: Path) -> None:
    task = Points()
    trainer = make_trainer(tmp_path, task=task, steps=10, evaluate_every=5)
    trainer.run(StopRequest())
    assert [kind for kind, _ in task.modes].count("validate") == 2
    assert all("weights" not in line and "candidates" not in line for line in events(trainer, "validated"))
    assert trainer.progress.candidates == {}


def test_before_the_first_moment_there_is_only_one_candidate(tmp_path: Path) -> None:
    trainer = make_trainer(
        tmp_path, task=Points(), steps=20, evaluate_every=5, average_checkpoints=2, average_every=8
    )
    trainer.run(StopRequest())
    assert [set(line["candidates"]) for line in events(trainer, "validated")] == [
        {"last"},
        *[{"averaged", "last"}] * 3,
    ]


def test_patience_counts_validations_not_candidates(tmp_path: Path) -> None:
    values = [
        2.0,
        3.0,
        4.0,
        1.0,
        5.0,
        5.0,
        5.0,
        5.0,
        0.1,
    ]  # the last weights of the second validation are the best
    trainer = make_trainer(
        tmp_path, task=Points(values=values), steps=100, evaluate_every=3, patience=2, ema_decay=0.9
    )
    assert trainer.run(StopRequest())
    assert (trainer.step, trainer.best_step) == (12, 6)


# Averages belong to the end of the planned run


def moments(trainer: TrainingLoop) -> list[int]:
    assert isinstance(trainer.average, CheckpointAverage)
    return trainer.average.steps


def test_moments_are_spread_over_the_last_fifth_where_nobody_says_how_far_apart(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=200, evaluate_every=200, average_checkpoints=4)
    trainer.run(StopRequest())
    assert moments(trainer) == [170, 180, 190, 200]
    short = make_trainer(tmp_path / "short", steps=3, evaluate_every=3, average_checkpoints=8)
    short.run(StopRequest())
    assert moments(short) == [1, 2, 3]


def test_a_plan_that_becomes_shorter_drops_what_was_taken_before_its_end_part() -> None:
    average, settings = CheckpointAverage(small_model()), TrainingSettings(average_checkpoints=4)
    for step in range(1, 202):
        average.update(step, settings, total_steps=1000)
    assert average.steps == [50, 100, 150, 200]
    for step in range(202, 226):
        average.update(step, settings, total_steps=300)  # 15 updates apart, 60 in all
    assert average.steps == [200, 210, 225]
    for step in range(226, 272):
        average.update(step, settings, total_steps=600)  # a longer one: 30 apart
    assert average.steps == [210, 225, 240, 270]


def test_explicit_moments_are_those_that_were_asked_for(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=47, evaluate_every=47, average_checkpoints=3, average_every=10)
    trainer.run(StopRequest())
    assert moments(trainer) == [20, 30, 40]


SHRINKING: dict[str, Any] = {
    "steps": 4500,
    "minutes": 5,
    "evaluate_every": 500,
    "average_checkpoints": 8,
    "average_every": 100,
    "scale_with_budget": ("evaluate_every", "average_every"),
}


@pytest.mark.slow
def test_a_time_budget_averages_over_the_same_share_of_the_run_as_the_recipe_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """800 of 4,500 updates; here one takes a second, of which the forecast knew nothing."""
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    trainer = make_trainer(tmp_path, **SHRINKING)
    assert trainer.budget.total_steps == 4500
    trainer.run(StopRequest())
    assert 250 <= trainer.step <= 300
    assert trainer.seconds <= 301
    tail = trainer.step * 800 / 4500
    assert len(moments(trainer)) == 8
    assert trainer.step - moments(trainer)[0] <= tail + 1
    assert trainer.step - moments(trainer)[0] >= 0.7 * tail
    assert len(events(trainer, "validated")) >= 5


@pytest.mark.slow
def test_a_moving_average_reaches_back_over_the_same_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred of 4,500 updates; the decay of each update follows from the steps that are planned then."""
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    settings: dict[str, Any] = {
        "steps": 4500,
        "minutes": 5,
        "ema_decay": 0.99,
        "evaluate_every": 60,
        "learning_rate": 0.1,
        "schedule": "constant",
    }
    trainer = make_trainer(tmp_path, **settings, scale_with_budget=("ema_decay",))
    expected = {name: each.detach().double() for name, each in trainer.model.named_parameters()}
    planned: set[int] = set()

    class Follow(StopAt):
        def on_step(self, report: StepReport) -> None:
            planned.add(report.total_steps)
            reach = 100 * report.total_steps / 4500
            share = min(1 - 1 / reach, report.step / (report.step + 9))
            for name, each in trainer.model.named_parameters():
                expected[name] = share * expected[name] + (1 - share) * each.detach().double()

    trainer.callback = Follow(0)
    trainer.run(StopRequest())
    assert min(planned) < 300 < max(planned)
    for name, tensor in trainer.average.averages().items():
        torch.testing.assert_close(tensor.double(), expected[name], rtol=1e-4, atol=1e-5)
        assert not torch.allclose(tensor, trainer.model.get_parameter(name), atol=1e-3)


# Stopping and going on, with averages


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [3, 4, 5, 17, 26, 29])
@pytest.mark.parametrize(
    "average",
    [{"average_checkpoints": 3, "average_every": 4}, {"average_checkpoints": 3}, {"ema_decay": 0.9}],
    ids=["every 4", "tail", "moving"],
)
def test_a_stop_before_or_within_the_averaged_part_changes_no_bit(
    average: dict[str, Any], stop_at: int, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "steps": 30,
        "evaluate_every": 6,
        "dropout": 0.3,
        "learning_rate": 0.05,
        **average,
    }
    check_going_on(tmp_path, stop_at, settings)


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [2, 8, 40, 270])
def test_a_plan_that_changed_under_way_is_the_same_after_a_stop(
    stop_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    whole, later = check_going_on(tmp_path, stop_at, {**SHRINKING, "dropout": 0.3})
    assert later.budget == whole.budget
    assert later.seconds == whole.seconds
    assert moments(later) == moments(whole)


def check_going_on(folder: Path, stop_at: int, settings: dict[str, Any]) -> tuple[TrainingLoop, TrainingLoop]:
    """Train without and with a stop in between, and compare everything."""
    whole, parts = (make_trainer(folder / name, **settings) for name in ("whole", "parts"))
    torch.manual_seed(9)
    whole.save()
    assert whole.run(StopRequest())
    torch.manual_seed(9)
    parts.save()
    parts.callback = callback = StopAt(stop_at)
    assert not parts.run(callback.request)
    later = make_trainer(folder / "parts", model=small_model(dropout=0.3, seed=99), **settings)
    saved, _ = Checkpoints(folder / "parts" / "checkpoints").load()
    assert saved is not None
    assert saved.step == stop_at
    later.resume(saved)
    assert later.run(StopRequest())
    assert outcome(later) == outcome(whole)
    return whole, later

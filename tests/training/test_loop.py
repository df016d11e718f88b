from __future__ import annotations

import hashlib
import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from seqlab.batches.samplers import ShuffledSampler
from seqlab.core.errors import TrainingError
from seqlab.training import loop
from seqlab.training.base import NullCallback, StepReport, Validation
from seqlab.training.budget import Budget
from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.journal import read_journal
from seqlab.training.loop import TrainingLoop
from seqlab.training.stop_signals import StopRequest
from tests.training.toy_task import Points, make_trainer, small_model


def events(trainer: TrainingLoop, kind: str) -> list[dict[str, Any]]:
    return [
        event for event in read_journal(trainer.best_path.parent / "journal.jsonl") if event["event"] == kind
    ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def outcome(trainer: TrainingLoop) -> dict[str, Any]:
    """Everything that two runs of the same thing share."""
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    last = trainer.checkpoints.folder / "last"
    kept = [
        event
        for event in read_journal(trainer.best_path.parent / "journal.jsonl")
        if event["event"] not in ("resumed", "interrupted")
    ]
    return {
        "model": digest(trainer.best_path),
        "tensors": digest(last / "tensors.safetensors"),
        "best": digest(last / "best.safetensors"),
        "progress": {name: value for name, value in saved.state["progress"].items() if name != "seconds"},
        "position": saved.state["position"],
        "journal": [
            {name: value for name, value in event.items() if name not in ("time", "seconds")}
            for event in kept
        ],
    }


class StopAt(NullCallback):
    """Presses Ctrl-C at one step."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.request = StopRequest()

    def on_step(self, report: StepReport) -> None:
        self.request.asked = report.step == self.step


class Remember(NullCallback):
    """Keeps what it sees."""

    def __init__(self) -> None:
        self.reports: list[StepReport] = []
        self.validations: list[tuple[int, float, bool]] = []

    def on_step(self, report: StepReport) -> None:
        self.reports.append(report)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self.validations.append((step, validation.value, is_best))


@pytest.mark.spec(45, 90, 99, 100)
def test_it_equals_a_plain_loop_written_out(tmp_path: Path) -> None:
    """The optimizer of torch, the schedule and the clipping written out, the epochs by hand: same weights,
    same numbers in the journal.
    """
    task = Points(num_points=35, batch_size=8)
    trainer = make_trainer(
        tmp_path,
        task=task,
        epochs=4,
        steps=0,
        evaluate_every=5,
        learning_rate=0.05,
        warmup_steps=3,
        clip_norm=0.45,
        weight_decay=0.1,
        decay_all=True,
    )
    assert trainer.run(StopRequest())

    model = small_model()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.1, fused=True)
    sampler = ShuffledSampler(35, batch_size=8, seed=2)
    clipped = 0
    for epoch in range(4):
        total, correct = 0.0, 0
        for number in range(5):
            step = epoch * 5 + number + 1
            rows = sampler.batch(epoch, number)
            for group in optimizer.param_groups:
                group["lr"] = 0.05 * 0.5 * (1 + math.cos(math.pi * step / 21)) * min(1, step / 3)
            optimizer.zero_grad()
            logits = model(task.inputs[rows].flatten(1))
            mean = F.cross_entropy(logits, task.targets[rows])
            mean.backward()
            norm = math.sqrt(
                sum(
                    float(parameter.grad.double().square().sum())
                    for parameter in model.parameters()
                    if parameter.grad is not None
                )
            )
            if norm > 0.45:
                clipped += 1
                for parameter in model.parameters():
                    assert parameter.grad is not None
                    parameter.grad *= 0.45 / norm
            optimizer.step()
            total += mean.item() * len(rows)
            correct += int((logits.argmax(dim=1) == task.targets[rows]).sum())
            assert events(trainer, "step")[step - 1]["gradient_norm"] == pytest.approx(norm, rel=1e-5)
        logits = model(task.inputs.flatten(1))
        line = events(trainer, "validated")[epoch]
        assert line["epoch"] == epoch + 1
        assert line["train_loss"] == pytest.approx(total / 35, rel=1e-5)
        assert line["train_accuracy"] == pytest.approx(correct / 35)
        assert line["valid_accuracy"] == pytest.approx(
            float((logits.argmax(dim=1) == task.targets).float().mean())
        )
    assert 0 < clipped < 20
    for ours, plain in zip(trainer.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-6)


@pytest.mark.spec(99)
def test_training_uses_dropout_and_validation_does_not(tmp_path: Path) -> None:
    task = Points()
    trainer = make_trainer(tmp_path, task=task, dropout=0.5, steps=6, evaluate_every=2)
    trainer.run(StopRequest())
    assert task.modes == [("loss", True), ("loss", True), ("validate", False)] * 3


def test_the_file_of_the_model_holds_the_best_weights_and_the_checkpoint_the_last(tmp_path: Path) -> None:
    task = Points(values=[3.0, 1.0, 2.0, 1.5])
    trainer = make_trainer(tmp_path, task=task, steps=20, evaluate_every=5, learning_rate=0.1)
    trainer.callback = callback = Remember()
    trainer.run(StopRequest())
    assert callback.validations == [(5, 3.0, True), (10, 1.0, True), (15, 2.0, False), (20, 1.5, False)]
    assert (trainer.best_step, trainer.step) == (10, 20)
    model = small_model()
    model.load_state_dict(read_weights(tmp_path / "model.safetensors"))
    assert task.validate(model).facts["valid_loss"] == pytest.approx(
        events(trainer, "validated")[1]["valid_loss"], rel=1e-6
    )
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    assert saved.step == 20
    assert all(
        saved.tensors[f"model.{name}"].equal(tensor) for name, tensor in trainer.model.state_dict().items()
    )
    assert all(saved.best[name].equal(tensor) for name, tensor in model.state_dict().items())


def test_a_tie_keeps_the_earlier_weights(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, task=Points(values=[1.0, 1.0]), steps=4, evaluate_every=2)
    trainer.run(StopRequest())
    assert trainer.best_step == 2


def test_patience_ends_a_run_that_gets_no_better(tmp_path: Path) -> None:
    trainer = make_trainer(
        tmp_path, task=Points(values=[2.0, 3.0, 1.0, 4.0, 5.0, 0.5]), steps=100, evaluate_every=3, patience=2
    )
    assert trainer.run(StopRequest())
    assert (trainer.step, trainer.best_step) == (15, 9)
    assert events(trainer, "finished")[0]["step"] == 15


def test_early_stopping_is_the_default_and_the_journal_says_why_a_run_ended(tmp_path: Path) -> None:
    values = [2.0, 1.0] + [3.0] * 18
    trainer = make_trainer(tmp_path / "default", task=Points(values=values), steps=20, evaluate_every=1)
    assert trainer.run(StopRequest())
    assert (trainer.step, trainer.best_step) == (7, 2)  # five validations without a new best
    assert events(trainer, "finished")[0]["reason"] == "early stopping"
    trainer = make_trainer(
        tmp_path / "off", task=Points(values=values), steps=20, evaluate_every=1, patience=0
    )
    assert trainer.run(StopRequest())
    assert (trainer.step, trainer.best_step) == (20, 2)
    assert events(trainer, "finished")[0]["reason"] == "budget"


def test_patience_is_remembered_over_a_stop(tmp_path: Path) -> None:
    values = [2.0, 3.0, 1.0, 4.0, 5.0, 0.5]
    trainer = make_trainer(tmp_path, task=Points(values=values), steps=100, evaluate_every=3, patience=2)
    trainer.callback = callback = StopAt(13)
    assert not trainer.run(callback.request)
    again = make_trainer(tmp_path, task=Points(values=values[4:]), steps=100, evaluate_every=3, patience=2)
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    again.resume(saved)
    assert again.run(StopRequest())
    assert (again.step, again.best_step) == (15, 9)


def test_the_last_step_is_validated_also_between_two_validations(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=7, evaluate_every=5)
    trainer.run(StopRequest())
    assert [event["step"] for event in events(trainer, "validated")] == [5, 7]


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [1, 4, 5, 6, 13, 19])
def test_stopping_and_going_on_at_any_step_changes_nothing(stop_at: int, tmp_path: Path) -> None:
    torch.manual_seed(1)
    whole = make_trainer(tmp_path / "whole", dropout=0.3)
    torch.manual_seed(9)
    whole.save()
    assert whole.run(StopRequest())

    parts = make_trainer(tmp_path / "parts", dropout=0.3)
    torch.manual_seed(9)
    parts.save()
    parts.callback = callback = StopAt(stop_at)
    assert not parts.run(callback.request)
    assert events(parts, "interrupted")[0]["step"] == stop_at
    torch.manual_seed(12345)
    later = make_trainer(tmp_path / "parts", dropout=0.3, model=small_model(dropout=0.3, seed=99))
    saved, problems = Checkpoints(tmp_path / "parts" / "checkpoints").load()
    assert saved is not None
    assert (saved.step, problems) == (stop_at, [])
    later.resume(saved)
    assert later.run(StopRequest())
    assert outcome(later) == outcome(whole)


def test_a_loss_is_told_how_many_updates_came_before_it_also_after_a_resume(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, task=(task := Points()), steps=5, gradient_accumulation=2)
    trainer.callback = callback = StopAt(3)
    trainer.run(callback.request)
    assert task.steps == [0, 0, 1, 1, 2, 2]
    again = make_trainer(tmp_path, task=(task := Points()), steps=5, gradient_accumulation=2)
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    again.resume(saved)
    again.run(StopRequest())
    assert task.steps == [3, 3, 4, 4]


def test_asking_to_stop_at_the_last_step_finishes(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=4, evaluate_every=3)
    trainer.callback = callback = StopAt(4)
    assert trainer.run(callback.request)


def test_a_resumed_run_that_had_finished_makes_no_further_step(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    trainer.run(StopRequest())
    before = outcome(trainer)
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    again = make_trainer(tmp_path)
    again.resume(saved)
    assert again.run(StopRequest())
    assert outcome(again) == before


class Clock:
    """A clock on which every look takes a while."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.seconds = seconds

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


def test_a_run_with_minutes_ends_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(1.0))
    trainer = make_trainer(
        tmp_path, steps=0, minutes=2, evaluate_every=10
    )  # planned for 0.01 s per step, but a step takes 1 s
    assert trainer.run(StopRequest())
    assert 100 <= trainer.seconds <= 122
    assert [event["step"] for event in events(trainer, "validated")][-1] == trainer.step
    assert trainer.budget.total_steps == trainer.step


@pytest.mark.slow
def test_a_run_faster_than_foreseen_uses_the_time_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(0.1))
    trainer = make_trainer(tmp_path, steps=0, minutes=0.5, evaluate_every=25)
    trainer.budget = trainer.budget.adjusted(
        step=1, seconds=1.0
    )  # planned for 1 s per step, but a step takes 0.1 s
    assert trainer.run(StopRequest())
    assert 25 <= trainer.seconds <= 31
    assert trainer.step > 200


@pytest.mark.slow
def test_under_a_time_budget_the_learning_rate_comes_to_its_end_however_wrong_the_forecast_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds in (0.2, 1.0, 3.0):  # the forecast says 0.01
        monkeypatch.setattr(loop, "perf_counter", Clock(seconds))
        task = Points(num_points=40_000)  # a validation per epoch would come after the end of the time
        trainer = make_trainer(
            tmp_path / str(seconds), task=task, steps=0, minutes=5, evaluate_every=0, learning_rate=0.01
        )
        trainer.callback = callback = Remember()
        assert trainer.budget.total_steps == 27_000
        assert trainer.run(StopRequest())
        rates = [report.rate for report in callback.reports]
        assert rates[-1] < 0.01 * max(rates)
        assert rates.index(max(rates)) < 0.2 * len(rates)
        assert 270 <= trainer.seconds <= 300 + seconds
        assert len(callback.validations) >= 3


@pytest.mark.slow
def test_slow_validations_do_not_exceed_the_time_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(0.5)
    monkeypatch.setattr(loop, "perf_counter", clock)

    class Slow(Points):
        def validate(self, model: nn.Module) -> Validation:
            clock.now += 10
            return super().validate(model)

    trainer = make_trainer(tmp_path, task=Slow(), steps=0, minutes=1.5, evaluate_every=0, ema_decay=0.9)
    trainer.budget = Budget.plan(trainer.settings, steps_per_epoch=5, step_seconds=0.1, validation_seconds=20)
    assert trainer.run(StopRequest())
    assert trainer.step > 50
    assert trainer.seconds <= 92


def test_saving_counts_as_time_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.01)
    monkeypatch.setattr(loop, "perf_counter", clock)
    trainer = make_trainer(tmp_path, steps=0, minutes=1, evaluate_every=3)
    save = trainer.save

    def slow_save() -> None:
        clock.now += 10
        save()

    monkeypatch.setattr(trainer, "save", slow_save)
    assert trainer.run(StopRequest())
    assert clock.now <= 75


@pytest.mark.slow
def test_a_long_way_between_validations_is_saved_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(50.0))
    trainer = make_trainer(tmp_path, steps=40, evaluate_every=40)
    seen: list[int] = []
    save = trainer.save
    monkeypatch.setattr(trainer, "save", lambda: (seen.append(trainer.step), save()))
    trainer.run(StopRequest())
    assert seen == [*range(3, 40, 3), 40]


def test_whoever_watches_sees_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(2.0))
    trainer = make_trainer(tmp_path, steps=12, evaluate_every=6)
    trainer.callback = callback = Remember()
    trainer.run(StopRequest())
    assert [report.step for report in callback.reports] == list(range(1, 13))
    assert [report.epoch for report in callback.reports] == [0] * 5 + [1] * 5 + [2] * 2
    assert all(left <= 30 for left in (report.seconds_left for report in callback.reports))
    assert callback.reports[-1].seconds_left == 0


def test_the_time_left_after_a_resume_follows_from_the_speed_since_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "perf_counter", Clock(50.0))
    slow = make_trainer(tmp_path, steps=20, evaluate_every=20)
    slow.callback = stopper = StopAt(10)
    assert not slow.run(stopper.request)
    saved, _ = slow.checkpoints.load()
    assert saved is not None
    monkeypatch.setattr(loop, "perf_counter", Clock(2.0))
    fast = make_trainer(tmp_path, steps=20, evaluate_every=20)
    fast.callback = callback = Remember()
    fast.resume(saved)
    fast.run(StopRequest())
    assert [report.seconds_left for report in callback.reports[:3]] == pytest.approx([9 * 50, 8 * 2, 7 * 2])


def test_a_long_run_has_a_journal_of_bounded_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOG_LINES", 40)
    trainer = make_trainer(tmp_path, steps=130, evaluate_every=65)
    trainer.callback = callback = Remember()
    trainer.run(StopRequest())
    lines = events(trainer, "step")
    assert [line["step"] for line in lines] == list(range(3, 130, 3))
    weights = [len(batch) for batch in trainer.objective.taken]
    for place, line in enumerate(lines):  # the mean over all points since the line before
        part = slice(3 * place, 3 * place + 3)
        total = sum(
            report.loss * weight for report, weight in zip(callback.reports[part], weights[part], strict=True)
        )
        assert line["loss"] == pytest.approx(total / sum(weights[part]))


# What is not finite stops the run before it does harm


def stopped_by(trainer: TrainingLoop) -> TrainingError:
    with pytest.raises(TrainingError) as caught:
        trainer.run(StopRequest())
    assert len(str(caught.value).splitlines()) <= 12
    assert f"checkpoint of step {trainer.saved_step} " in str(caught.value)
    assert "training.learning_rate=" in str(caught.value)
    assert events(trainer, "not_finite")[0]["step"] == trainer.step
    saved, problems = trainer.checkpoints.load()
    assert saved is not None
    assert (saved.step, problems) == (trainer.saved_step, [])
    assert all(
        bool(torch.isfinite(tensor).all())
        for name, tensor in saved.tensors.items()
        if name.startswith(("model", "optimizer"))
    )
    assert all(bool(torch.isfinite(tensor).all()) for tensor in saved.best.values())
    return caught.value


def test_broken_weights_stop_the_step_before_its_update_and_are_named(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=10, evaluate_every=3)
    trainer.save()
    update = trainer._update

    def update_then_break() -> None:
        update()
        if trainer.step == 4:
            with torch.no_grad():
                trainer.model[3].weight[1, 2] = math.nan

    trainer._update = update_then_break
    error = stopped_by(trainer)
    assert str(error).startswith("step 5: the loss is nan: ")
    assert "'3.weight'" in str(error)
    assert "before the update by the points [" in str(error)
    assert str(trainer.objective.taken[-1]) in str(error)
    assert trainer.saved_step == 3
    assert trainer.model[0].weight.isfinite().all()


def test_broken_inputs_are_named_by_their_rows(tmp_path: Path) -> None:
    task = Points()
    task.inputs[17] = math.inf
    trainer = make_trainer(tmp_path, task=task, steps=10, evaluate_every=10)
    trainer.save()
    error = stopped_by(trainer)
    place = task.taken[-1].index(17)
    assert f"inputs {place} of the batch are not finite" in str(error)


def test_a_learning_rate_of_a_million_stops_the_run_with_the_last_good_checkpoint(tmp_path: Path) -> None:
    for every in (1, 2, 3, 50):
        trainer = make_trainer(
            tmp_path / str(every), steps=50, evaluate_every=every, learning_rate=1e6, weight_decay=0.1
        )
        trainer.save()
        error = stopped_by(trainer)
        assert "training.learning_rate=100000" in str(error)


def test_a_gradient_that_overflows_stops_before_the_update(tmp_path: Path) -> None:
    class Steep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([[1e-25, 0.0]]))

        def forward(self, points: torch.Tensor) -> torch.Tensor:
            return points[:, :1] @ self.weight * 1e25

    trainer = make_trainer(tmp_path, task=Points(scale=1.0), model=Steep(), steps=5)
    trainer.save()
    error = stopped_by(trainer)
    assert str(error).startswith("step 1: the gradient norm is inf: ")
    assert trainer.model.weight.tolist() == torch.tensor([[1e-25, 0.0]]).tolist()


def test_a_validation_that_is_no_number_is_never_the_best(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, task=Points(values=[0.7, math.nan]), steps=10, evaluate_every=2)
    trainer.save()
    error = stopped_by(trainer)
    assert str(error).startswith("step 4: the validation score is nan.")
    assert "without saving this step" in str(error)
    assert trainer.best_step == 2


def test_first_validation_that_is_no_number_leaves_no_model(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, task=Points(values=[math.inf]), steps=10, evaluate_every=2)
    trainer.save()
    stopped_by(trainer)
    assert not trainer.best_path.exists()


def test_half_precision_computes_in_half_and_keeps_whole_weights(tmp_path: Path) -> None:
    kinds: set[torch.dtype] = set()
    trainer = make_trainer(tmp_path, steps=4, precision="bfloat16")
    trainer.model[0].register_forward_hook(lambda *call: kinds.add(call[2].dtype))
    trainer._update()
    assert kinds == {torch.bfloat16}
    assert {parameter.dtype for parameter in trainer.model.parameters()} == {torch.float32}


def test_resuming_repairs_the_file_of_the_best_weights(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    trainer.run(StopRequest())
    whole = trainer.best_path.read_bytes()
    saved, _ = trainer.checkpoints.load()
    assert saved is not None
    for damage in (b"", whole[:-1], None):
        trainer.best_path.unlink() if damage is None else trainer.best_path.write_bytes(damage)
        make_trainer(tmp_path).resume(saved)
        assert trainer.best_path.read_bytes() == whole


def test_batches_after_a_resume_are_those_that_were_to_come(tmp_path: Path) -> None:
    task = Points()
    trainer = make_trainer(tmp_path, task=task)
    trainer.run(StopRequest())
    for stop_at in (2, 5, 13):
        first, second = Points(), Points()
        part = make_trainer(tmp_path / str(stop_at), task=first)
        part.callback = callback = StopAt(stop_at)
        part.run(callback.request)
        saved, _ = part.checkpoints.load()
        assert saved is not None
        again = make_trainer(tmp_path / str(stop_at), task=second)
        again.resume(saved)
        again.run(StopRequest())
        assert list(itertools.chain(first.taken, second.taken)) == task.taken

"""The training loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor, nn

from seqlab.batches.loader import Cursor
from seqlab.core.memory import give_back_freed_memory
from seqlab.training.averaging import Weights, better_weights, build_average
from seqlab.training.base import Callback, Carry, StepReport, Trainable, Validation
from seqlab.training.budget import Budget, scale_counts
from seqlab.training.callbacks.callback_list import with_registered
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.snapshot import restore_snapshot, take_snapshot
from seqlab.training.checkpoints.typed_state import read_state
from seqlab.training.checkpoints.weights_file import replace_weights
from seqlab.training.gradients import accumulate_gradients
from seqlab.training.journal import Journal
from seqlab.training.non_finite import explain_update, explain_validation, not_finite
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.progress import Progress, Tally
from seqlab.training.recorded_budget import PLANNED, read_budget
from seqlab.training.schedule import learning_rate
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest

SECONDS_BETWEEN_CHECKPOINTS = 120.0
EARLY = (1, 10, 100)
"""Updates after which a generative model writes a sample before the first validation, to show what it
generated at the beginning.
"""
LOG_LINES = 400
"""Approximate number of training-loss lines in the journal of a run."""
SHARE_BEFORE_FORECAST = 0.3
"""After this share of the training time, the scoring time is forecast again: a model that has learned to
end its outputs is scored faster than an untrained one.
"""


class TrainingLoop:
    """The training loop: loss, backward pass, gradient clipping and update, with validation and checkpoints
    in between.

    Everything the next update depends on is in the checkpoint, so a resumed run is identical to one that
    was never interrupted. `run_id` identifies the run that checkpoints and weights belong to;
    `forecast_scoring` returns how many seconds scoring will take after training.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Trainable,
        settings: TrainingSettings,
        budget: Budget,
        *,
        folder: Path,
        device: torch.device,
        callback: Callback | None = None,
        run_id: str = "",
        layer_decay: float = 1.0,
        forecast_scoring: Callable[[], float] | None = None,
    ) -> None:
        self.model = model.to(device)
        self.objective = objective
        self.settings = settings
        self.budget = budget
        self.device = device
        self.callback = with_registered(callback)
        self.run_id = run_id
        self.checkpoints = Checkpoints(folder / "checkpoints", run_id=run_id)
        self.journal = Journal(folder / "journal.jsonl")
        self.best_path = folder / "model.safetensors"
        self.optimizer = build_optimizer(model, settings, layer_decay=layer_decay)
        self.average = build_average(self.model, settings)
        self.loader = objective.loader(Cursor())
        self.carry: Carry = ()
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        self.saved_step = 0
        self.forecast_scoring = forecast_scoring
        self.went_on_step, self.went_on_seconds = 0, 0.0

    @property
    def step(self) -> int:
        return self.progress.step

    @property
    def seconds(self) -> float:
        return self.progress.seconds

    @property
    def _step_seconds(self) -> float:
        """Seconds per update since the last resume, because earlier timings may come from another machine;
        they are used only until there are new ones.
        """
        timed = self.step - 1 - self.went_on_step  # the current update is not timed yet
        return (
            (self.seconds - self.went_on_seconds) / timed if timed else self.seconds / max(1, self.step - 1)
        )

    @property
    def best_step(self) -> int:
        return self.progress.best_step

    @property
    def stopped_early(self) -> bool:
        """Whether there was no new best in the last `training.patience` validations."""
        return 0 < self.budget.patience(self.settings.patience) <= self.progress.validations_without_best

    @property
    def finished(self) -> bool:
        return self.stopped_early or self.budget.is_spent(step=self.step, seconds=self.seconds)

    def run(self, stop: StopRequest) -> bool:
        """Train until the budget is spent or early stopping applies. Returns False if a stop was requested
        before.
        """
        self.model.train()
        clock = saved = perf_counter()
        while not self.finished:
            self._update()
            clock = self._count_time(since=clock)
            if self.budget.is_checked_early(step=self.step):
                self._plan_again(before_validation=True)
            is_due = self.step % self.budget.evaluate_every == 0
            if is_due or self.budget.is_spent(step=self.step, seconds=self.seconds):
                self._validate()
                self._forecast_again()
                clock = self._count_time(since=clock)
                self._plan_again(before_validation=False)
            elif not stop.asked and clock - saved < SECONDS_BETWEEN_CHECKPOINTS:
                continue
            self.save()
            give_back_freed_memory()
            saved = clock
            if stop.asked and not self.finished:
                self.journal.write("interrupted", step=self.step)
                return False
        self.journal.write(
            "finished",
            step=self.step,
            seconds=round(self.seconds, 1),
            best_step=self.best_step,
            reason="early stopping" if self.stopped_early else "budget",
        )
        return True

    def _update(self) -> None:
        epoch = self.loader.cursor.epoch
        batches = [self.loader.take().to(self.device) for _ in range(self.settings.gradient_accumulation)]
        self.progress.step += 1
        backward = accumulate_gradients(
            self.model, self.objective, batches, self.settings, step=self.step - 1, carry=self.carry
        )
        if not (math.isfinite(backward.mean) and math.isfinite(backward.norm)):
            self._reject(
                explain_update(backward, batches, self.model),
                rows="; ".join(map(self.objective.describe_rows, batches)),
            )
        settings, total_steps = scale_counts(self.settings, self.budget.share), self.budget.total_steps
        rate = learning_rate(self.step, settings, total_steps=total_steps)
        set_learning_rate(self.optimizer, rate)
        self.optimizer.step()
        self.average.update(self.step, settings, total_steps=total_steps)
        self.carry = backward.loss.carry
        loss = backward.loss
        for tally in (self.progress.since_log, self.progress.since_validation):
            tally.add(
                backward.mean * loss.count,
                loss.count,
                loss.correct,
                seen=int(loss.count) if loss.seen is None else loss.seen,
            )
        left = self.budget.seconds_left(step=self.step, seconds=self.seconds, step_seconds=self._step_seconds)
        self.callback.on_step(
            StepReport(
                self.step,
                self.budget.total_steps,
                epoch,
                backward.mean,
                rate,
                left,
                sequences=sum(0 if batch.continues else len(batch.rows) for batch in batches),
                tokens=sum(int(batch.is_token.sum()) for batch in batches),
            )
        )
        if self.step in EARLY and self.step < self.budget.evaluate_every:
            self._keep_sample(backward.mean)
        if self.step % max(1, self.budget.total_steps // LOG_LINES) == 0:
            mean = self.progress.since_log.mean
            self.journal.write(
                "step",
                step=self.step,
                epoch=epoch,
                loss=mean,
                learning_rate=rate,
                gradient_norm=backward.norm,
            )
            self.progress.since_log = Tally()

    def _plan_again(self, *, before_validation: bool) -> None:
        """Adjust the plan to the measured speed. Changes are journaled, because the learning rate depends
        on them.
        """
        before, self.budget = self.budget, self.budget.adjusted(step=self.step, seconds=self.seconds)
        plan = {name: getattr(self.budget, name) for name in PLANNED}
        if plan != {name: getattr(before, name) for name in PLANNED}:
            self.journal.write("planned", step=self.step, before_validation=before_validation, **plan)

    def _forecast_again(self) -> None:
        """Forecast the scoring time once more with the partly trained model, and replan."""
        limit = self.budget.training_seconds * SHARE_BEFORE_FORECAST
        if self.forecast_scoring is None or self.seconds < limit or math.isinf(limit):
            return
        self.budget = self.budget.timed(before=self.budget.before, after=self.forecast_scoring())
        self.forecast_scoring = None

    def _keep_sample(self, loss: float) -> None:
        self.model.eval()
        with torch.inference_mode():
            sample = self.objective.sample(self.model)
        self.model.train()
        if sample:
            self.journal.write("sampled", step=self.step, train_loss=loss, sample=sample)

    def _validate(self) -> None:
        """Validate averaged and last weights, and save the better ones if they are the best so far."""
        candidates = self._validate_candidates()
        weights = better_weights(candidates)
        validation = candidates[weights]
        values = (
            {name: candidate.value for name, candidate in candidates.items()}
            if self.settings.averages_weights
            else {}
        )
        is_better = validation.beats(self.progress.best_value)
        is_best = is_better or validation.wins_tie(self.progress.best_value, self.progress.best_loss)
        # Patience counts validations without a better value: a loss that keeps falling while the value stays
        # the same does not prolong a run.
        self.progress.validations_without_best = (
            0 if is_better else self.progress.validations_without_best + 1
        )
        if is_best:
            self.progress.best_value, self.progress.best_loss, self.progress.best_step = (
                validation.value,
                validation.loss,
                self.step,
            )
            self.progress.best_weights, self.progress.candidates = weights, values
            with self.average.in_place() if weights == "averaged" else nullcontext():
                self.best = {
                    name: tensor.detach().to("cpu", copy=True)
                    for name, tensor in self.model.state_dict().items()
                }
            self._write_best()
        tally = self.progress.since_validation
        self.journal.write(
            "validated",
            step=self.step,
            epoch=self.loader.cursor.epoch,
            best=is_best,
            seconds=round(self.seconds, 1),
            train_loss=tally.mean,
            train_accuracy=tally.accuracy,
            **validation.facts,
            **({"weights": weights, "candidates": values} if values else {}),
        )
        self.progress.since_validation = Tally()
        trained = {"train_loss": tally.mean, "train_accuracy": tally.accuracy}
        known = {name: value for name, value in trained.items() if value is not None}
        seen = replace(validation, facts={**known, **validation.facts})
        self.callback.on_validation(self.step, seen, is_best=is_best)

    def _validate_candidates(self) -> dict[Weights, Validation]:
        candidates: dict[Weights, Validation] = {}
        if self.average.averages():
            with self.average.in_place():
                candidates["averaged"] = self._validate_weights()
        candidates["last"] = self._validate_weights()
        return candidates

    def _validate_weights(self) -> Validation:
        """Validate the current weights of the model."""
        self.model.eval()
        with torch.inference_mode():
            validation = self.objective.validate(self.model)
        self.model.train()
        if reason := explain_validation(validation, self.model):
            self._reject(reason)
        return validation

    def save(self) -> None:
        """Write a checkpoint of the current state."""
        state = {
            "position": asdict(self.loader.cursor),
            "progress": asdict(self.progress),
            "budget": asdict(self.budget),
            "threads": torch.get_num_threads(),
            "journal": self.journal.record(),
        }
        tensors = take_snapshot(self.model, self.optimizer, self.average, self.carry, device=self.device)
        checkpoint = Checkpoint(self.step, tensors, best=self.best, best_step=self.best_step, state=state)
        self.checkpoints.save(checkpoint)
        self.saved_step = self.step

    def resume(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint as if the run had never been interrupted."""
        if record := checkpoint.state.get("journal"):  # earlier versions did not record it
            self.journal.rewind(record)
        self.carry = restore_snapshot(
            checkpoint.tensors, self.model, self.optimizer, self.average, device=self.device
        )
        self.loader = self.objective.loader(read_state(Cursor, checkpoint.state["position"]))
        self.progress = Progress.from_json(checkpoint.state["progress"])
        self.budget = read_budget(checkpoint.state["budget"])
        self.saved_step = checkpoint.step
        self.went_on_step, self.went_on_seconds = self.step, self.seconds
        self.best = dict(checkpoint.best)
        self.journal.repair()
        self.journal.write(
            "resumed", step=self.step
        )  # first: the weights are never older than the journal says
        if self.best:  # the file may come from a later validation that is not in the checkpoint
            self._write_best()

    def _write_best(self) -> None:
        replace_weights(self.best_path, self.best, run_id=self.run_id, step=self.best_step)

    def _count_time(self, *, since: float) -> float:
        now = perf_counter()
        self.progress.seconds += now - since
        return now

    def _reject(self, reason: str, *, rows: str = "") -> None:
        """Stop before NaN or infinity gets into the weights or a checkpoint."""
        self.journal.write("not_finite", step=self.step, reason=reason)
        raise not_finite(
            reason, step=self.step, rows=rows, settings=self.settings, saved_step=self.saved_step
        )

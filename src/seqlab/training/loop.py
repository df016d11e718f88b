"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.feed import Position
from seqlab.core.errors import TrainingError
from seqlab.training import random_state
from seqlab.training.base import Carry, Nobody, StepReport, Trainable, Watcher
from seqlab.training.budget import Budget
from seqlab.training.checkpoint import Checkpoint, Checkpoints
from seqlab.training.journal import Journal
from seqlab.training.optimizer import build_optimizer, load_state_tensors, set_learning_rate, state_tensors
from seqlab.training.schedule import constant_warmup, cosine_warmup
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest
from seqlab.training.weights import replace_weights

SECONDS_BETWEEN_CHECKPOINTS = 120.0
LOG_LINES = 400
"""About this many lines of training loss in the journal of a run."""


@dataclass
class Tally:
    """Loss and hits of training, summed up to the next line of the journal."""

    total: float = 0.0
    count: int = 0
    correct: int = 0

    def add(self, total: float, count: int, correct: int) -> None:
        self.total += total
        self.count += count
        self.correct += correct

    @property
    def mean(self) -> float:
        return self.total / max(1, self.count)

    @property
    def accuracy(self) -> float:
        return self.correct / max(1, self.count)


class Trainer:
    """Takes a batch, asks the task for the loss, goes backward, clips, updates; now and then validates and saves.

    Everything that the next update depends on is in the checkpoint, so a resumed run equals one that never stopped.
    """

    def __init__(
        self,
        model: nn.Module,
        task: Trainable,
        settings: TrainingSettings,
        budget: Budget,
        *,
        folder: Path,
        device: torch.device,
        watcher: Watcher | None = None,
    ) -> None:
        self.model = model.to(device)
        self.task = task
        self.settings = settings
        self.budget = budget
        self.device = device
        self.watcher = watcher or Nobody()
        self.checkpoints = Checkpoints(folder / "checkpoints")
        self.journal = Journal(folder / "journal.jsonl")
        self.best_path = folder / "model.safetensors"
        self.optimizer = build_optimizer(model, settings)
        self.feed = task.feed(Position())
        self.carry: Carry = ()
        self.step = 0
        self.seconds = 0.0
        self.best_value: float | None = None
        self.best_step = 0
        self.best: dict[str, Tensor] = {}
        self.validations_without_best = 0
        self._best_is_new = True  # until it has been saved by this process
        self._since_log = Tally()
        self._since_validation = Tally()

    def run(self, stop: StopRequest) -> bool:
        """Train until the budget or the patience ends. False when somebody asked to stop before."""
        self.model.train()
        clock = time.perf_counter()
        saved = clock
        while not self.finished:
            self._update()
            now = time.perf_counter()
            self.seconds += now - clock
            clock = now
            last = self.step >= self.budget.total_steps or self.seconds >= self.budget.seconds
            if last or self.step % self.budget.evaluate_every == 0:
                self._validate()
                self.seconds += time.perf_counter() - clock
                self.budget = self.budget.adjusted(step=self.step, seconds=self.seconds, wanted=self._wanted_steps())
                self.save()
                saved = clock = time.perf_counter()
            elif stop.asked or now - saved > SECONDS_BETWEEN_CHECKPOINTS:
                self.save()
                saved = clock = time.perf_counter()
            if stop.asked and not self.finished:
                self.journal.write("interrupted", step=self.step)
                return False
        self.journal.write("finished", step=self.step, seconds=round(self.seconds, 1), best_step=self.best_step)
        return True

    @property
    def finished(self) -> bool:
        exhausted = bool(self.settings.patience) and self.validations_without_best >= self.settings.patience
        return self.step >= self.budget.total_steps or self.seconds >= self.budget.seconds or exhausted

    def _update(self) -> None:
        epoch = self.feed.position.epoch
        batch = self.feed.take().to(self.device)
        self.step += 1
        rate = self.settings.learning_rate * self._schedule()(self.step)
        set_learning_rate(self.optimizer, rate)
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
            loss = self.task.loss(self.model, batch, self.carry)
        mean = loss.total / loss.count
        mean.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm or math.inf)
        value = mean.item()
        if not (math.isfinite(value) and math.isfinite(norm.item())):
            raise self._not_finite(value, batch)
        self.optimizer.step()
        self.carry = loss.carry
        for tally in (self._since_log, self._since_validation):
            tally.add(value * loss.count, loss.count, loss.correct)
        self._report(value, epoch=epoch, rate=rate, norm=norm.item())

    def _schedule(self) -> Callable[[int], float]:
        total = self.budget.total_steps
        warmup = self.settings.warmup_steps if self.settings.warmup_steps >= 0 else total // 20
        if self.settings.schedule == "constant":
            return lambda step: constant_warmup(step, warmup_steps=warmup)
        # one more than the last step, so that the last update still moves
        return lambda step: cosine_warmup(step, warmup_steps=warmup, decay_steps=self.settings.decay_steps or total + 1)

    def _report(self, loss: float, *, epoch: int, rate: float, norm: float) -> None:
        per_step = self.seconds / self.step
        left = min((self.budget.total_steps - self.step) * per_step, self.budget.seconds - self.seconds)
        self.watcher.stepped(StepReport(self.step, self.budget.total_steps, epoch, loss, rate, left))
        if self.step % max(1, self.budget.total_steps // LOG_LINES) == 0:
            self.journal.write("step", step=self.step, epoch=epoch, loss=self._since_log.mean, learning_rate=rate, gradient_norm=norm)
            self._since_log = Tally()

    def _validate(self) -> None:
        self.model.eval()
        with torch.inference_mode():
            validation = self.task.validate(self.model)
        self.model.train()
        is_best = validation.beats(self.best_value)
        if is_best:
            self.best_value, self.best_step = validation.value, self.step
            self.best = {name: tensor.detach().to("cpu", copy=True) for name, tensor in self.model.state_dict().items()}
            self.validations_without_best = 0
            self._best_is_new = True
            replace_weights(self.best_path, self.best)
        else:
            self.validations_without_best += 1
        self.journal.write(
            "validated",
            step=self.step,
            epoch=self.feed.position.epoch,
            best=is_best,
            seconds=round(self.seconds, 1),
            train_loss=self._since_validation.mean,
            train_accuracy=self._since_validation.accuracy,
            **validation.facts,
        )
        self._since_validation = Tally()
        self.watcher.validated(self.step, validation, is_best=is_best)

    def _wanted_steps(self) -> int:
        return self.settings.steps or math.ceil(self.settings.epochs * self.feed.plan.batches_in(0))

    def save(self) -> None:
        """Write a checkpoint of this very moment."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        tensors |= {f"optimizer.{name}": tensor for name, tensor in state_tensors(self.optimizer).items()}
        tensors |= {f"random.{name}": tensor for name, tensor in random_state.capture(self.device).items()}
        tensors |= {f"carry.{number:02d}": tensor for number, tensor in enumerate(self.carry)}
        checkpoint = Checkpoint(step=self.step, tensors=tensors, best=self.best, state=self._numbers())
        self.checkpoints.save(checkpoint, best_is_new=self._best_is_new)
        self._best_is_new = False

    def _numbers(self) -> dict[str, Any]:
        return {
            "position": asdict(self.feed.position),
            "seconds": self.seconds,
            "best_value": self.best_value,
            "best_step": self.best_step,
            "validations_without_best": self.validations_without_best,
            "total_steps": self.budget.total_steps,
            "evaluate_every": self.budget.evaluate_every,
            "since_log": asdict(self._since_log),
            "since_validation": asdict(self._since_validation),
            "threads": torch.get_num_threads(),
        }

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint as if nothing had happened."""
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "random": {}, "carry": {}}
        for name, tensor in checkpoint.tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        self.model.load_state_dict(parts["model"])
        load_state_tensors(self.optimizer, parts["optimizer"])
        random_state.restore(parts["random"], self.device)
        self.carry = tuple(parts["carry"][name].to(self.device) for name in sorted(parts["carry"]))
        state = checkpoint.state
        self.step = checkpoint.step
        self.feed = self.task.feed(Position(**state["position"]))
        self.seconds = state["seconds"]
        self.best_value, self.best_step, self.best = state["best_value"], state["best_step"], dict(checkpoint.best)
        self.validations_without_best = state["validations_without_best"]
        self.budget = Budget(total_steps=state["total_steps"], evaluate_every=state["evaluate_every"], seconds=self.budget.seconds)
        self._since_log, self._since_validation = Tally(**state["since_log"]), Tally(**state["since_validation"])
        if self.best:
            replace_weights(self.best_path, self.best)
        self.journal.write("resumed", step=self.step)

    def _not_finite(self, loss: float, batch: Batch) -> TrainingError:
        bad_inputs = batch.inputs.is_floating_point() and not bool(torch.isfinite(batch.inputs).all())
        broken = next((name for name, parameter in self.model.named_parameters() if not bool(torch.isfinite(parameter).all())), None)
        reason = (
            "the inputs of the batch are not finite"
            if bad_inputs
            else f"the weights '{broken}' are not finite"
            if broken
            else "the update overflowed"
        )
        self.journal.write("not_finite", step=self.step, loss=loss, reason=reason)
        return TrainingError(
            f"step {self.step}: the loss is {loss} ({reason}; {self.task.describe_rows(batch)}). Stopped before the update.",
            cure=f"Try training.learning_rate={self.settings.learning_rate / 10:g}, a smaller training.clip_norm, or look at those rows. "
            f"The checkpoint of step {self._last_saved()} is whole.",
        )

    def _last_saved(self) -> int:
        saved = self.checkpoints.load()
        return saved.step if saved else 0

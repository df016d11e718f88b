"""Train a PyTorch model of your own on data of your own, with the loop that trains seqlab's models."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import default_collate

from seqlab.cli.python_progress import check_callbacks, python_progress
from seqlab.core.errors import RunError, TrainingError, UsageError
from seqlab.core.seeds import derive
from seqlab.runs.folder.layout import CHECKPOINTS, JOURNAL, claim_folder, new_folder
from seqlab.runs.folder.lock import clear_false_start, locked
from seqlab.runs.own_model.arguments import check_parts, open_examples, read_settings, without_section
from seqlab.runs.own_model.fit_folder import FitRecord, is_begun, newest_checkpoint
from seqlab.training.base import Callback
from seqlab.training.budget import Budget
from seqlab.training.callbacks.callback_list import CallbackList
from seqlab.training.checkpoints.snapshot import weights_in
from seqlab.training.checkpoints.weights_file import compare_shapes
from seqlab.training.device import choose_device, use_threads
from seqlab.training.forecast import measure
from seqlab.training.journal import read_journal
from seqlab.training.loop import TrainingLoop
from seqlab.training.own_data import LOSS, OwnObjective
from seqlab.training.stop_signals import catch_stop_signals


@dataclass(frozen=True)
class History:
    """What a fit did: one dict for every validation, with `step`, `epoch`, `train_loss` and what was validated."""

    folder: Path
    validations: Sequence[Mapping[str, Any]]
    best_step: int
    """The update after which the model validated best; the model has these weights now."""
    stopped_early: bool

    @property
    def best(self) -> Mapping[str, Any]:
        """The validation of the best weights."""
        return next(facts for facts in self.validations if facts["step"] == self.best_step)


class Trainer:
    """Trains any `torch.nn.Module` on any data with random access.

    It is the loop that `seqlab.train` uses: learning-rate schedules with warm-up, gradient clipping and accumulation,
    weight averaging, early stopping, callbacks, a journal, and checkpoints. An interrupted fit that is resumed gives
    the same weights, bit for bit, as one that was never interrupted.

    A batch is what `collate` makes of a list of examples. By default, a batch is ``(inputs, targets)`` or
    ``(input, input, …, targets)``, and the model is called with the inputs.

    Args:
        model: The network. Its weights change in place.
        loss: A function of outputs and targets that returns the mean over the targets, such as
            ``torch.nn.functional.cross_entropy``.
        train: The training examples: a list, a map-style ``torch.utils.data.Dataset``, or a tuple of tensors
            ``(inputs, targets)`` with one row per example.
        valid: The validation examples, which select the best weights.
        collate: Makes a batch of a list of examples; ``torch.utils.data.default_collate`` by default.
        forward: ``forward(model, batch)`` returns outputs and targets, for batches of another form and to leave out
            padding: ``return model(tokens)[is_token], tags[is_token]``.
        metrics: More functions of outputs and targets to validate, by name. Each returns a mean over the targets.
        monitor: The metric that selects the best weights and stops early; the validation loss by default.
        higher_is_better: Whether a higher value of the monitored metric is better; False for the loss, True for all
            others by default.
        out: The folder of checkpoints, best weights and journal; in ``runs/`` by default.
        callbacks: Objects whose methods are called after every update and every validation.
        verbose: Whether to print progress to standard error.
        settings: Settings of the section ``training``: ``steps``, ``epochs``, ``minutes``, ``batch_size``,
            ``learning_rate``, ``optimizer``, ``schedule``, ``clip_norm``, ``patience``, ``seed`` and others.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Any, Any], Tensor],
        *,
        train: Any,
        valid: Any,
        collate: Callable[[list[Any]], Any] = default_collate,
        forward: Callable[[nn.Module, Any], tuple[Any, Any]] | None = None,
        metrics: Mapping[str, Callable[[Any, Any], Any]] | None = None,
        monitor: str = LOSS,
        higher_is_better: bool | None = None,
        out: str | Path = "",
        callbacks: Sequence[Callback] = (),
        verbose: bool = True,
        **settings: Any,
    ) -> None:
        check_callbacks(callbacks)
        check_parts(model, loss, metrics or {}, monitor)
        self.model = model
        self.settings = read_settings(settings)
        self.objective = OwnObjective(
            loss,
            train=open_examples(train, "train"),
            valid=open_examples(valid, "valid"),
            batch_size=self.settings.batch_size,
            seed=self.settings.seed,
            collate=collate,
            forward=forward,
            metrics=metrics,
            monitor=monitor,
            higher_is_better=monitor != LOSS if higher_is_better is None else higher_is_better,
        )
        self.folder = Path(out) if out else None
        self._callbacks, self._verbose = callbacks, verbose

    def fit(self, *, resume: bool = False) -> History:
        """Train until the budget is spent or early stopping applies; the model then has its best weights.

        Ctrl-C saves a checkpoint and raises ``KeyboardInterrupt``.

        Args:
            resume: Continue an interrupted fit in the folder `out`, with the same model, data and settings. It starts
                from the beginning if there is none yet.
        """
        folder = self._open_folder(resume=resume)
        with locked(folder), python_progress(verbose=self._verbose) as progress:
            callback = CallbackList([progress, *self._callbacks])
            loop = self._resumed(folder, callback) if is_begun(folder) else self._begun(folder, callback)
            try:
                with catch_stop_signals() as stop:
                    is_finished = loop.run(stop)
            except TrainingError as error:
                raise TrainingError(error.what, where=error.where, cure=without_section(error.cure)) from None
            if not is_finished:
                raise KeyboardInterrupt(
                    f"stopped and saved after step {loop.saved_step:,}; continue with fit(resume=True)"
                )
            self.model.load_state_dict(loop.best)
            self.model.eval()
        return _read_history(folder, loop)

    def _open_folder(self, *, resume: bool) -> Path:
        """Check the folder and one batch before anything is written."""
        if self.folder is None and resume:
            raise UsageError(
                "there is no folder to resume in.", where="fit(resume=True)", cure="Pass out=FOLDER."
            )
        if self.folder is not None and is_begun(self.folder):
            if not resume:
                raise RunError(
                    "this folder already contains a fit.",
                    where=str(self.folder),
                    cure="Continue it with fit(resume=True), or choose another out=.",
                )
            return self.folder
        folder = new_folder(str(self.folder or ""), name=type(self.model).__name__.lower())
        self.objective.rehearse(self.model, device=choose_device(self.settings))
        self.folder = folder if self.folder else claim_folder(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

    def _begun(self, folder: Path, callback: Callback) -> TrainingLoop:
        """Start a fit; the folder can be resumed once everything is written."""
        clear_false_start(folder)
        use_threads(self.settings.threads)
        run_id = secrets.token_hex(8)
        loop = self._loop(folder, callback, run_id, self._plan(choose_device(self.settings)))
        loop.journal.write(
            "started", step=0, total_steps=loop.budget.total_steps, threads=torch.get_num_threads()
        )
        torch.manual_seed(derive(self.settings.seed, "training"))
        loop.save()
        self._record(run_id).write(folder)
        return loop

    def _resumed(self, folder: Path, callback: Callback) -> TrainingLoop:
        """Continue from the newest intact checkpoint, with the same settings and as much data."""
        before = FitRecord.read(folder)
        before.reject_changes(self._record(before.run_id), where=folder)
        use_threads(self.settings.threads or before.threads)
        checkpoint = newest_checkpoint(folder, run_id=before.run_id)
        weights = {name: tuple(tensor.shape) for name, tensor in weights_in(checkpoint.tensors).items()}
        compare_shapes(weights, self.model.state_dict(), where=folder / CHECKPOINTS)
        loop = self._loop(folder, callback, before.run_id, Budget(**checkpoint.state["budget"]))
        loop.resume(checkpoint)
        return loop

    def _loop(self, folder: Path, callback: Callback, run_id: str, budget: Budget) -> TrainingLoop:
        return TrainingLoop(
            self.model,
            self.objective,
            self.settings,
            budget,
            folder=folder,
            device=choose_device(self.settings),
            callback=callback,
            run_id=run_id,
        )

    def _plan(self, device: torch.device) -> Budget:
        """Plan the number of updates; only a time budget needs a few steps to be timed."""
        settings = self.settings
        batches = -(-len(self.objective.train) // settings.batch_size)
        steps_per_epoch = max(1, batches // settings.gradient_accumulation)
        step_seconds = validation_seconds = 1.0
        if settings.minutes:
            forecast = measure(self.model, self.objective, settings, device=device)
            step_seconds, validation_seconds = forecast.step_seconds, forecast.validation_seconds
        return Budget.plan(
            settings,
            steps_per_epoch=steps_per_epoch,
            step_seconds=step_seconds,
            validation_seconds=validation_seconds,
        )

    def _record(self, run_id: str) -> FitRecord:
        return FitRecord(
            run_id,
            threads=torch.get_num_threads(),
            settings=self.settings.model_dump(mode="json"),
            monitor=self.objective.monitor,
            train=len(self.objective.train),
            valid=len(self.objective.valid),
        )


def _read_history(folder: Path, loop: TrainingLoop) -> History:
    events = read_journal(folder / JOURNAL)
    validations = [
        {name: value for name, value in event.items() if name not in ("event", "time") and value is not None}
        for event in events
        if event["event"] == "validated"
    ]
    return History(folder, validations, best_step=loop.best_step, stopped_early=loop.stopped_early)

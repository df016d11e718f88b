"""Start training in a new run folder, or resume from the newest checkpoint."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import torch

from seqlab.core.errors import DataError, RunError
from seqlab.core.files import write_whole
from seqlab.core.git_state import read_git_state
from seqlab.core.notify import Notify, ignore
from seqlab.core.seeds import derive
from seqlab.core.typed_command import typed_command
from seqlab.recipes.recipe import Recipe
from seqlab.runs.card.card import EDITED, keep_edited_card
from seqlab.runs.data import RunData, open_data, require_files
from seqlab.runs.evaluation import require_metrics
from seqlab.runs.folder.layout import (
    CHECKPOINTS,
    JOURNAL,
    RECIPE,
    TOKENS,
    claim_folder,
    find_run,
    read_recipe,
    reject_existing_run,
    reject_links,
)
from seqlab.runs.folder.lock import clear_false_start, locked
from seqlab.runs.folder.manifest import (
    Manifest,
    begin_manifest,
    reopen_manifest,
    verify_start,
)
from seqlab.runs.run import Run
from seqlab.runs.survey.data_survey import survey_parts
from seqlab.runs.train.build import build_model
from seqlab.runs.train.encoded_data import encode_data
from seqlab.runs.train.plan import scored_sizes
from seqlab.runs.train.prepare import Prepared
from seqlab.runs.train.scoring import score_run
from seqlab.runs.train.validation_sample import validate_on
from seqlab.runs.transfer.distillation import find_teacher
from seqlab.tasks.codec import Codec
from seqlab.tasks.spec import find_spec
from seqlab.training.base import Callback
from seqlab.training.budget import Budget
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.snapshot import weights_in
from seqlab.training.checkpoints.typed_state import explain_odd_state
from seqlab.training.checkpoints.weights_file import compare_shapes
from seqlab.training.device import choose_device, keep_memory_of_large_gradients, use_threads
from seqlab.training.journal import Journal, read_journal, started_event
from seqlab.training.loop import TrainingLoop
from seqlab.training.recorded_budget import plan_of, read_budget
from seqlab.training.stop_signals import catch_stop_signals
from seqlab.training.tensor_shapes import shapes_of


class Interrupted(Exception):
    """Training was stopped on request; the run can be resumed."""

    def __init__(self, folder: Path, step: int) -> None:
        super().__init__(f"stopped after step {step}")
        self.folder = folder
        self.step = step


def train(prepared: Prepared, *, callback: Callback | None = None, on_stage: Notify = ignore) -> Run:
    """Create the run folder and train until the budget is spent."""
    if prepared.is_numbered and (claimed := claim_folder(prepared.folder)) != prepared.folder:
        on_stage(
            f"{prepared.folder} was created by another process in the meantime; the run folder is {claimed}"
        )
        prepared = replace(prepared, folder=claimed)
    folder, recipe = prepared.folder, prepared.recipe
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        reject_existing_run(folder)  # another process may have been faster since the folder was chosen
        clear_false_start(folder)
        prepared.codec.save(folder / TOKENS)
        manifest = begin_manifest(folder, recipe=recipe.to_toml(), data=prepared.data)
        git = read_git_state()
        facts = {
            "data": prepared.data,
            "warnings": prepared.warnings,
            "threads": torch.get_num_threads(),
            "device": str(prepared.device),
            "command": typed_command(),
            "plan": plan_of(prepared.budget),
            **({"git": git.to_json()} if git else {}),
        }
        Journal(folder / JOURNAL).write("started", step=0, total_steps=prepared.budget.total_steps, **facts)
        trainer = _trainer(prepared, manifest, callback)
        _count_preparation(trainer, prepared, used=0.0)
        torch.manual_seed(derive(recipe.training.seed, "training"))
        trainer.save()
        write_whole(folder / RECIPE, recipe.to_toml())  # last: a folder with a recipe can be resumed
        return _finish(trainer, prepared, manifest, on_stage)


def resume(
    path: str | Path,
    *,
    data: Mapping[str, str] | None = None,
    callback: Callback | None = None,
    on_stage: Notify = ignore,
    clock: float | None = None,
) -> Run:
    """Continue from the newest intact checkpoint of a run. Time used before counts toward a time budget.

    data: the new paths of train, valid or test, if they were moved. Their content must be the same.
    """
    clock = perf_counter() if clock is None else clock
    folder = find_run(path)
    reject_links(folder)  # before anything is written through one
    with locked(folder):
        manifest = verify_start(folder)
        recipe = read_recipe(folder)
        require_metrics(recipe)
        use_threads(recipe.training.threads)
        codec = find_spec(recipe.task).load_parts().codec.load(recipe, folder / TOKENS)
        checkpoint = _load_checkpoint(folder, manifest, codec, on_stage=on_stage)
        on_stage("reading the data")
        opened = open_again(recipe, data or {}, folder)
        fingerprints = {name: part.fingerprint() for name, part in opened.parts.items()}
        reject_other_data(folder, before=manifest.data, now=fingerprints)
        with explain_odd_state(folder / CHECKPOINTS):
            budget = read_budget(checkpoint.state["budget"])
        prepared = _prepare_again(folder, codec, opened, budget, clock=clock, on_stage=on_stage)
        trainer = _trainer(prepared, manifest, callback)
        with explain_odd_state(folder / CHECKPOINTS):
            trainer.resume(checkpoint)
        _count_preparation(trainer, prepared, used=budget.before)
        if keep_edited_card(folder, manifest):
            on_stage(f"card.md was edited; your version is now {EDITED}")
        manifest = reopen_manifest(folder, manifest)
        on_stage(f"resuming after step {checkpoint.step:,} of {trainer.budget.total_steps:,}")
        return _finish(trainer, prepared, manifest, on_stage)


def _prepare_again(
    folder: Path, codec: Codec, opened: RunData, budget: Budget, *, clock: float, on_stage: Notify
) -> Prepared:
    """Prepare training from what a run has saved; nothing is chosen, fitted or timed again."""
    recipe = codec.recipe
    device = choose_device(recipe.training)
    teacher, _ = find_teacher(recipe, on_stage=on_stage)
    data = encode_data(codec, opened, teacher=teacher, device=device, on_stage=on_stage)
    started = started_event(read_journal(folder / JOURNAL))
    return Prepared(
        folder=folder,
        recipe=recipe,
        codec=codec,
        splits=data.splits,
        objective=validate_on(data.objective, data.sources["valid"], budget.validation_rows),
        model=build_model(codec),
        device=device,
        budget=budget,
        data=data.fingerprints(),
        reasons=[],
        warnings=started.get("warnings", []),
        survey=survey_parts(recipe, opened.parts),
        sources=data.sources,
        clock=clock,
        rehearsal=data.rehearsal,
    )


def open_again(
    recipe: Recipe, moved: Mapping[str, str], folder: Path, *, command: str = "train --resume"
) -> RunData:
    """Open the data of a run, which may have moved since the run started.

    command: the command to call again with the new path.
    """
    recipe = recipe.changed("data", **{name: str(Path(path).resolve()) for name, path in moved.items()})
    try:
        require_files(recipe)
    except DataError as error:
        raise DataError(
            error.what,
            where=error.where,
            cure=f"If it was moved: seqlab {command} {shlex.quote(str(folder))} data.train=FILE",
        ) from error
    return open_data(recipe)


def _load_checkpoint(folder: Path, manifest: Manifest, codec: Codec, *, on_stage: Notify) -> Checkpoint:
    """Load the newest intact checkpoint, after checking that it fits the model."""
    checkpoint, problems = Checkpoints(folder / CHECKPOINTS, run_id=manifest.run_id).load()
    if checkpoint is None:
        why = f": {problems[0]}" if problems else "."
        raise RunError(
            f"there is no intact checkpoint to resume from{why}",
            where=str(folder),
            cure="Restore one from a copy, or train again.",
        )
    for problem in problems:
        on_stage(f"skipped a checkpoint: {problem}")
    shapes = {name: tuple(tensor.shape) for name, tensor in weights_in(checkpoint.tensors).items()}
    compare_shapes(shapes, shapes_of(lambda: build_model(codec)), where=folder / CHECKPOINTS)
    return checkpoint


def _trainer(prepared: Prepared, manifest: Manifest, callback: Callback | None) -> TrainingLoop:
    keep_memory_of_large_gradients(prepared.model)
    return TrainingLoop(
        prepared.model,
        prepared.objective,
        prepared.recipe.training,
        prepared.budget,
        folder=prepared.folder,
        device=prepared.device,
        callback=callback,
        run_id=manifest.run_id,
        layer_decay=prepared.recipe.start.layer_decay,
        forecast_scoring=_scoring_forecast(prepared),
    )


def _scoring_forecast(prepared: Prepared) -> Callable[[], float] | None:
    """Return a function that forecasts scoring with the current model, if its time depends on what the
    model generates.
    """
    training = prepared.recipe.training
    if not (training.minutes and find_spec(prepared.recipe.task).generates):
        return None
    sizes = scored_sizes(prepared.sources, prepared.survey)
    return lambda: prepared.rehearsal.forecast(prepared.model, limit=training.minutes * 60).seconds(sizes)


def _count_preparation(trainer: TrainingLoop, prepared: Prepared, *, used: float) -> None:
    """Count the time since the command started, plus the preparation time of earlier processes of this run."""
    before = used + perf_counter() - prepared.clock
    trainer.budget = trainer.budget.timed(before=before, after=trainer.budget.after)


def _finish(trainer: TrainingLoop, prepared: Prepared, manifest: Manifest, on_stage: Notify) -> Run:
    """Train until the budget is spent, then score."""
    try:
        with catch_stop_signals() as stop:
            done = trainer.run(stop)
            stop.can_wait = False  # everything is saved by now
            if done:
                return score_run(trainer, prepared, manifest, on_stage)
    except KeyboardInterrupt:
        pass
    raise Interrupted(prepared.folder, trainer.saved_step)


def reject_other_data(folder: Path, *, before: Mapping[str, str], now: dict[str, str]) -> None:
    changed = [name for name, fingerprint in before.items() if now.get(name) != fingerprint]
    if changed:
        raise RunError(
            f"the data of {', '.join(changed)} has changed since the run started.",
            where=str(folder),
            cure="Restore the files, or start a new run.",
        )

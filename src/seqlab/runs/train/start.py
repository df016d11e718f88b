"""A recipe becomes a run: open the data, learn the vocabularies, forecast, train, score, write everything
down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from seqlab.core.errors import DataError, RunError
from seqlab.core.files import write_whole
from seqlab.core.seeds import derive
from seqlab.metrics.score import beaten_scores
from seqlab.recipes.read import with_task
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import OpenedData, open_data
from seqlab.runs.folder.calibration import write_choices
from seqlab.runs.folder.layout import (
    CHECKPOINTS,
    JOURNAL,
    RECIPE,
    REPORT,
    TOKENS,
    WEIGHTS,
    find_run,
    new_folder,
    read_recipe,
    refuse_a_run,
    refuse_links,
)
from seqlab.runs.folder.lock import clear_false_start, locked
from seqlab.runs.folder.manifest import (
    Manifest,
    begin_manifest,
    complete_manifest,
    reopen_manifest,
    verify_start,
)
from seqlab.runs.folder.results import provenance, write_results
from seqlab.runs.report.build import run_report
from seqlab.runs.run import Run
from seqlab.runs.survey.leaks import note_leaks
from seqlab.runs.survey.parts import survey_parts, survey_warnings
from seqlab.runs.train.build import adapt, build_model
from seqlab.runs.transfer.distillation import find_teacher, teach
from seqlab.runs.transfer.pretrained_vectors import fit_to_vectors, take_vectors
from seqlab.runs.transfer.source_weights import digest_of_weights, take_weights
from seqlab.runs.transfer.warm_start import find_source, refuse_differences, refuse_idle_settings, take_over
from seqlab.sources.survey.report import Survey
from seqlab.tasks.base import Task
from seqlab.tasks.spec import find_spec
from seqlab.training.base import Callback
from seqlab.training.budget import DEFAULT_EPOCHS, DEFAULT_MINUTES, DEFAULT_PATIENCE, Budget
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.snapshot import weights_in
from seqlab.training.checkpoints.weights_file import compare_shapes, read_weights
from seqlab.training.device import choose_device, keep_memory_of_large_gradients, use_threads
from seqlab.training.forecast import Forecast, measure
from seqlab.training.freezing import count_parameters
from seqlab.training.journal import Journal, read_journal
from seqlab.training.loop import Trainer
from seqlab.training.progress import Progress
from seqlab.training.scaling import scale_counts
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import catch_stop_signals
from seqlab.training.tensor_shapes import shapes_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Prepared:
    """All that training needs, before anything is written."""

    folder: Path
    recipe: Recipe
    task: Task
    model: nn.Module
    device: torch.device
    budget: Budget
    data: dict[str, str]
    reasons: list[str]
    warnings: list[str]
    survey: Survey
    forecast: Forecast | None = None


class Interrupted(Exception):
    """Training was stopped on request; the folder can be resumed."""

    def __init__(self, folder: Path, step: int) -> None:
        super().__init__(f"stopped after step {step}")
        self.folder = folder
        self.step = step


def prepare(recipe: Recipe, *, out: str = "", name: str = "", say: Say = lambda _: None) -> Prepared:
    """Everything that can fail on the user's side happens here; the folder is not made yet."""
    threads = use_threads(recipe.training.threads)
    device = choose_device(recipe.training)
    source = find_start(recipe, say=say)
    say("reading the data")
    opened = _open(recipe, source)
    recipe, kept = (
        (opened.recipe, []) if source is None else take_over(opened.recipe, source.recipe, source.folder)
    )
    if source is not None:
        recipe = recipe.changed(
            "start", digest=digest_of_weights(source, expected=recipe.start.digest, where="start.digest")
        )
    teacher, recipe = find_teacher(recipe, say=say)
    spec = find_spec(recipe.task)
    given = recipe.model.model_fields_set if "model" in recipe.model_fields_set else set()
    recipe, reasons = spec.fill_defaults(recipe, opened.parts["train"])
    recipe, fitted = fit_to_vectors(recipe, given=given)
    reasons += fitted + _costs(recipe)
    recipe = _complete_training(recipe, threads=threads)
    say("looking for repeats and leaks")
    found = survey_parts(opened.recipe, opened.parts)
    warnings = opened.warnings + survey_warnings(opened.recipe, found)
    say("learning the vocabulary")
    task = spec.load_task().learn(recipe, opened.parts["train"])
    teach(task, teacher, device=device)
    data = _attach(task, opened, say=say)
    torch.manual_seed(derive(recipe.training.seed, "weights"))
    model = task.build_model()
    if source is not None and recipe.start.weights == "learned":
        take_weights(model, source, recipe)
    if recipe.start.vectors:
        reasons.append(take_vectors(model, task, recipe.start.vectors))
    adapt(model, recipe.start)
    task.prime(model)
    folder = new_folder(out, name=name or f"{data_name(recipe)}-{_model_name(recipe)}")
    say("measuring a few steps")
    forecast = measure(model, task, recipe.training, device=device)
    budget = Budget.plan(
        recipe.training,
        steps_per_epoch=forecast.steps_per_epoch,
        step_seconds=forecast.step_seconds,
        validation_seconds=forecast.validation_seconds,
    )
    reasons += _fitted_counts(recipe.training, budget)
    return Prepared(
        folder,
        recipe,
        task,
        model,
        device,
        budget,
        data,
        opened.reasons + kept + reasons,
        warnings + task.notes,
        found,
        forecast,
    )


def train(prepared: Prepared, *, callback: Callback | None = None, say: Say = lambda _: None) -> Run:
    """Make the folder and train until the budget ends."""
    folder, recipe = prepared.folder, prepared.recipe
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        refuse_a_run(folder)  # somebody may have been faster since the folder was chosen
        clear_false_start(folder)
        prepared.task.save(folder / TOKENS)
        manifest = begin_manifest(folder, recipe=recipe.to_toml(), data=prepared.data)
        facts = {
            "data": prepared.data,
            "warnings": prepared.warnings,
            "threads": torch.get_num_threads(),
            "device": str(prepared.device),
        }
        Journal(folder / JOURNAL).write("started", step=0, total_steps=prepared.budget.total_steps, **facts)
        trainer = _trainer(prepared, manifest, callback)
        torch.manual_seed(derive(recipe.training.seed, "training"))
        trainer.save()
        write_whole(folder / RECIPE, recipe.to_toml())  # last: a folder with a recipe can be resumed
        return _finish(trainer, prepared, manifest, say)


def resume(path: str | Path, *, callback: Callback | None = None, say: Say = lambda _: None) -> Run:
    """Go on where the newest whole checkpoint of a run stands."""
    folder = find_run(path)
    refuse_links(folder)  # before anything is written through one
    with locked(folder):
        manifest = verify_start(folder)
        recipe = read_recipe(folder)
        use_threads(recipe.training.threads)
        device = choose_device(recipe.training)
        task = find_spec(recipe.task).load_task().load(recipe, folder / TOKENS)
        checkpoint = _load_checkpoint(folder, manifest, task, say=say)
        say("reading the data")
        opened = open_data(recipe)
        _refuse_other_data(
            folder,
            before=manifest.data,
            now={name: part.fingerprint() for name, part in opened.parts.items()},
        )
        data = _attach(task, opened, say=say)
        teacher, _ = find_teacher(recipe, say=say)
        teach(task, teacher, device=device)
        budget = Budget(**checkpoint.state["budget"])
        started = next((event for event in read_journal(folder / JOURNAL) if event["event"] == "started"), {})
        found = survey_parts(recipe, opened.parts)
        prepared = Prepared(
            folder,
            recipe,
            task,
            build_model(task),
            device,
            budget,
            data,
            [],
            started.get("warnings", []),
            found,
        )
        trainer = _trainer(prepared, manifest, callback)
        trainer.resume(checkpoint)
        manifest = reopen_manifest(folder, manifest)
        say(f"resuming after step {checkpoint.step:,} of {trainer.budget.total_steps:,}")
        return _finish(trainer, prepared, manifest, say)


def _load_checkpoint(folder: Path, manifest: Manifest, task: Task, *, say: Say) -> Checkpoint:
    """The newest whole checkpoint, once it is certain that it fits the model."""
    checkpoint, problems = Checkpoints(folder / CHECKPOINTS, seal=manifest.run_id).load()
    if checkpoint is None:
        why = f": {problems[0]}" if problems else "."
        raise RunError(
            f"there is no whole checkpoint to resume from{why}",
            where=str(folder),
            cure="Restore one from a copy, or train again.",
        )
    for problem in problems:
        say(f"passed over a checkpoint: {problem}")
    shapes = {name: tuple(tensor.shape) for name, tensor in weights_in(checkpoint.tensors).items()}
    compare_shapes(shapes, shapes_of(lambda: build_model(task)), where=folder / CHECKPOINTS)
    return checkpoint


def _trainer(prepared: Prepared, manifest: Manifest, callback: Callback | None) -> Trainer:
    keep_memory_of_large_gradients(prepared.model)
    return Trainer(
        prepared.model,
        prepared.task,
        prepared.recipe.training,
        prepared.budget,
        folder=prepared.folder,
        device=prepared.device,
        callback=callback,
        seal=manifest.run_id,
        layer_decay=prepared.recipe.start.layer_decay,
    )


def _finish(trainer: Trainer, prepared: Prepared, manifest: Manifest, say: Say) -> Run:
    """Train to the end of the budget, then score."""
    try:
        with catch_stop_signals() as stop:
            done = trainer.run(stop)
            stop.can_wait = False  # all that training made is saved
            if done:
                return _score(trainer, prepared, manifest, say)
    except KeyboardInterrupt:
        pass
    raise Interrupted(prepared.folder, trainer.saved_step)


def _score(trainer: Trainer, prepared: Prepared, manifest: Manifest, say: Say) -> Run:
    """Take the best weights, score them beside the baselines, and write results and report."""
    folder, progress = prepared.folder, trainer.progress
    if progress.candidates:
        say(_chosen_weights(progress))
    say("scoring beside the baselines")
    model = prepared.model
    model.load_state_dict(read_weights(folder / WEIGHTS, expected=model.state_dict(), seal=manifest.run_id))
    model.eval()
    write_choices(folder, prepared.task.settle(model), manifest)
    evaluations = [
        prepared.task.evaluate(model, split) for split in ("test", "valid") if split in prepared.task.stores
    ]
    beaten = [score for each in evaluations[:1] for score in beaten_scores(each.scores)]
    known = [
        sentence for each in evaluations if (sentence := note_leaks(each, prepared.task, prepared.survey))
    ]
    warnings = [
        *prepared.warnings,
        *known,
        *(f"the model does not beat its baseline: {score.describe()}" for score in beaten),
    ]
    training: dict[str, Any] = {
        "steps": trainer.step,
        "best_step": trainer.best_step,
        "seconds": round(trainer.seconds, 1),
        "parameters": count_parameters(model),
        "trained_parameters": count_parameters(model, trained=True),
    }
    if progress.candidates:
        training |= {"weights": progress.best_weights, "candidates": progress.candidates}
    facts = provenance(seed=prepared.recipe.training.seed, device=prepared.device, data=prepared.data)
    write_results(folder, evaluations, training=training, provenance=facts, warnings=warnings)
    complete_manifest(folder, manifest)
    run = Run(folder, prepared.recipe, prepared.task, model)
    write_whole(folder / REPORT, run_report(run))
    return run


def _chosen_weights(progress: Progress) -> str:
    values = ", ".join(f"{name} {value:.4f}" for name, value in progress.candidates.items())
    return (
        f"saved the {progress.best_weights} weights of step {progress.best_step:,} (on validation data:"
        f" {values})"
    )


def find_start(recipe: Recipe, *, say: Say) -> Run | None:
    """The run from which a recipe starts, once it is certain that both agree."""
    refuse_idle_settings(recipe.start)
    if not recipe.start.run:
        return None
    folder = find_source(recipe.start)
    refuse_differences(recipe, read_recipe(folder))
    say(f"loading {folder}")
    return Run.load(folder)


def _open(recipe: Recipe, source: Run | None) -> OpenedData:
    """Text alone is for the task that the source had learned from text alone, where nobody says otherwise."""
    opened = open_data(recipe)
    if (
        source is None
        or recipe.task
        or not (find_spec(opened.recipe.task).is_text_stream and find_spec(source.recipe.task).is_text_stream)
    ):
        return opened
    return open_data(with_task(recipe, source.recipe.task))


def _costs(recipe: Recipe) -> list[str]:
    """Choices that make every step slower than it need be."""
    if getattr(recipe.model, "attention_dropout", 0.0) <= 0:
        return []
    return [
        (
            "attention dropout does not use the fast attention kernel: each step is 1.1–3× slower; set"
            " model.attention_dropout=0 to disable"
        )
    ]


def _fitted_counts(training: TrainingSettings, budget: Budget) -> list[str]:
    """Which step counts of the recipe are others in this run."""
    names = training.scale_with_budget
    if not names:
        return []
    scaled = scale_counts(training, budget.share).model_copy(update={"evaluate_every": budget.evaluate_every})
    values = ", ".join(f"{name}={round(getattr(scaled, name), 4)}" for name in names)
    about = "about " if budget.seconds is not None else ""
    return [f"fitted to {about}{budget.total_steps:,} steps: {values}; otherwise: training.NAME=NUMBER"]


def _complete_training(recipe: Recipe, *, threads: int) -> Recipe:
    training = recipe.training
    changes: dict[str, Any] = {"threads": threads}
    if not (training.steps or training.epochs or training.minutes):
        changes |= {"minutes": DEFAULT_MINUTES, "epochs": DEFAULT_EPOCHS}
        if "patience" not in training.model_fields_set:
            changes["patience"] = DEFAULT_PATIENCE
    data = {
        name: str(Path(path).resolve())
        for name in ("train", "valid", "test")
        if (path := getattr(recipe.data, name)) and Path(path).exists()
    }
    return recipe.changed("training", **changes).changed("data", **data)


def data_name(recipe: Recipe) -> str:
    """The file's name, or the folder's when every such file is called train."""
    path = Path(recipe.data.train)
    stem = path.name.partition(".")[0]
    return path.resolve().parent.name if stem in ("train", "training", "data", "input") else stem


def _model_name(recipe: Recipe) -> str:
    return str(getattr(recipe.model, "cell", recipe.model.kind))


def _attach(task: Task, opened: OpenedData, *, say: Say) -> dict[str, str]:
    """Encode every part; returns the fingerprint of each."""
    if "valid" not in opened.parts:
        raise DataError(
            "there is no data to choose the best model on.",
            where=opened.parts["train"].name,
            cure="Set data.valid_share=0.1 or data.valid=FILE.",
        )
    for split, source in opened.parts.items():
        say(f"encoding {split}")
        task.attach(split, source)
    return {split: source.fingerprint() for split, source in opened.parts.items()}


def _refuse_other_data(folder: Path, *, before: Mapping[str, str], now: dict[str, str]) -> None:
    changed = [name for name, fingerprint in before.items() if now.get(name) != fingerprint]
    if changed:
        raise RunError(
            f"the data of {', '.join(changed)} is not what the run started with.",
            where=str(folder),
            cure="Restore the files, or start a new run.",
        )

"""From a recipe to everything that training needs: data, codec, network, forecast. Nothing is written yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import nn

from seqlab.core.errors import DataError
from seqlab.core.seeds import derive
from seqlab.models.short_name import short_name
from seqlab.recipes.read import with_task
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings
from seqlab.runs.data import RunData, open_data
from seqlab.runs.evaluation import refuse_unsupported
from seqlab.runs.folder.layout import new_folder, read_recipe
from seqlab.runs.run import Run
from seqlab.runs.survey.data_survey import survey_parts, survey_warnings
from seqlab.runs.train.build import adapt, build_bare_model
from seqlab.runs.train.held_out_sample import size_of
from seqlab.runs.train.plan import fitted_counts, forecast_scoring, plan_budget, plan_warnings
from seqlab.runs.train.reading_time import reading_warnings
from seqlab.runs.train.scoring_forecast import ScoringForecast, ScoringRehearsal
from seqlab.runs.train.validation_sample import affordable_rows, describe_sample, validate_on
from seqlab.runs.transfer.distillation import build_teacher, find_teacher
from seqlab.runs.transfer.pretrained_vectors import copy_vectors, fit_to_vectors
from seqlab.runs.transfer.source_weights import copy_weights, digest_of_weights
from seqlab.runs.transfer.warm_start import (
    find_source,
    inherit_recipe,
    refuse_differences,
    refuse_idle_settings,
)
from seqlab.sources.base import Source
from seqlab.sources.survey.report import Survey
from seqlab.tasks.codec import Codec
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.tasks.split import Split
from seqlab.training.budget import DEFAULT_EPOCHS, DEFAULT_MINUTES, Budget
from seqlab.training.device import choose_device, use_threads
from seqlab.training.forecast import Forecast, measure

Say = Callable[[str], None]
DEFAULT_BATCH_SIZE = 32


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """All that training needs, before anything is written."""

    folder: Path
    recipe: Recipe
    codec: Codec
    splits: dict[str, Split]
    objective: Objective[Any, Any]
    model: nn.Module
    device: torch.device
    budget: Budget
    data: dict[str, str]
    """The fingerprint of each part of the data."""
    guesses: list[str] = field(default_factory=list)
    """What was guessed about the data, which is told before anything slow."""
    reasons: list[str]
    warnings: list[str]
    survey: Survey
    sources: dict[str, Source]
    """The parts of the data as they are read."""
    clock: float
    """`perf_counter()` when the command started."""
    rehearsal: ScoringRehearsal
    forecast: Forecast | None = None
    scoring: ScoringForecast | None = None
    """How long scoring takes, in a run with a time budget."""
    is_numbered: bool = False
    """Whether the folder was chosen here, so that the next number does as well."""


def prepare(
    recipe: Recipe,
    *,
    out: str = "",
    name: str = "",
    say: Say = lambda _: None,
    tell: Say = lambda _: None,
    clock: float | None = None,
) -> Prepared:
    """Everything that can fail on the user's side happens here; the folder is not made yet.

    tell: hears what was guessed about the data before slow work starts, and before an error that comes later.
    clock: `perf_counter()` when the command started, from which a time budget counts.
    """
    clock = perf_counter() if clock is None else clock
    if out:
        new_folder(out, name=name)  # a place that is taken is reported before the work
    threads = use_threads(recipe.training.threads)
    device = choose_device(recipe.training)
    source = find_start(recipe, say=say)
    for warning in reading_warnings(recipe):
        tell(f"WARNING: {warning}")
    say("reading the data")
    opened = _open(recipe, source, tell=tell)
    recipe, kept = (
        (opened.recipe, []) if source is None else inherit_recipe(opened.recipe, source.recipe, source.folder)
    )
    if source is not None:
        recipe = recipe.changed(
            "start", digest=digest_of_weights(source, expected=recipe.start.digest, where="start.digest")
        )
    teacher_run, recipe = find_teacher(recipe, say=say)
    refuse_unsupported(recipe)
    spec = find_spec(recipe.task)
    model_settings = recipe.model.model_fields_set if "model" in recipe.model_fields_set else set()
    no_effect = spec.check_ignored(opened.recipe)  # what was inherited is not the user's to leave out
    recipe, reasons = spec.fill_defaults(recipe, opened.parts["train"])
    recipe, fitted = fit_to_vectors(recipe, given=model_settings)
    reasons += fitted + _costs(recipe)
    recipe = _complete_training(recipe, threads=threads)
    say("looking for repeats and leaks")
    survey = survey_parts(opened.recipe, opened.parts)
    warnings = opened.warnings + no_effect + survey_warnings(opened.recipe, survey)
    say("learning the vocabulary")
    parts = spec.load_parts()
    codec = parts.codec.fit(recipe, opened.parts["train"])
    teacher = build_teacher(recipe, codec, teacher_run, device=device)
    splits = encode_splits(codec, opened, say=say)
    objective = parts.objective(codec, splits, teacher=teacher)
    torch.manual_seed(derive(recipe.training.seed, "weights"))
    model = build_bare_model(codec)
    objective.init_weights(model)
    if source is not None and recipe.start.weights == "learned":
        copy_weights(model, source, recipe)
    if recipe.start.vectors:
        reasons.append(copy_vectors(model, codec, recipe.start.vectors))
    adapt(model, recipe.start)
    objective.fit_statistics(model)
    folder = new_folder(out, name=name or f"{data_name(recipe)}-{short_name(recipe.model)}")
    say("measuring a few steps")
    with naming_settings(recipe):  # the first forward pass may find that the data do not fit the network
        valid, valid_size = opened.parts["valid"], size_of(opened.parts["valid"], survey.parts["valid"])
        validation_rows = affordable_rows(objective, valid, valid_size, model, device=device)
        objective = validate_on(objective, valid, validation_rows)
        forecast = measure(model, objective, recipe.training, device=device)
        rehearsal = ScoringRehearsal(parts, codec, splits["train"], valid, device=device)
        scoring = forecast_scoring(recipe.training, forecast, rehearsal, model)
    budget = plan_budget(
        recipe,
        forecast,
        scoring,
        opened.parts,
        survey,
        before=perf_counter() - clock,
        validation_rows=validation_rows,
    )
    reasons += fitted_counts(recipe.training, budget)
    reasons += describe_sample(valid, validation_rows, valid_size)
    warnings += plan_warnings(recipe, budget, forecast)
    return Prepared(
        folder=folder,
        recipe=recipe,
        codec=codec,
        splits=splits,
        objective=objective,
        model=model,
        device=device,
        budget=budget,
        data={name: part.fingerprint() for name, part in opened.parts.items()},
        guesses=opened.reasons,
        reasons=kept + reasons,
        warnings=warnings + [f"{split.name}: {note}" for split in splits.values() for note in split.notes],
        survey=survey,
        sources=opened.parts,
        clock=clock,
        rehearsal=rehearsal,
        forecast=forecast,
        scoring=scoring,
        is_numbered=not out,
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


def _open(recipe: Recipe, source: Run | None, *, tell: Say) -> RunData:
    """Text alone is for the task that the source had learned from text alone, where nobody says otherwise."""
    opened = open_data(recipe, tell=tell)
    if (
        source is None
        or recipe.task
        or not (find_spec(opened.recipe.task).is_text_stream and find_spec(source.recipe.task).is_text_stream)
    ):
        return opened
    return open_data(with_task(recipe, source.recipe.task))


def encode_splits(codec: Codec, opened: RunData, *, say: Say) -> dict[str, Split]:
    """Encode every part of the data."""
    if "valid" not in opened.parts:
        raise DataError(
            "there is no data to choose the best model on.",
            where=opened.parts["train"].name,
            cure="Set data.valid_share=0.1 or data.valid=FILE.",
        )
    splits = {}
    for name, source in opened.parts.items():
        say(f"encoding {name}")
        splits[name] = codec.encode_split(name, source)
        if rebuilt := splits[name].store.rebuilt:
            say(f"the cached arrays of {name} were damaged ({', '.join(rebuilt)}) and have been made again")
    return splits


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


def _complete_training(recipe: Recipe, *, threads: int) -> Recipe:
    training = recipe.training
    changes: dict[str, Any] = {"threads": threads}
    if not (training.batch_size or training.batch_tokens):  # a task that leaves it open
        changes["batch_size"] = DEFAULT_BATCH_SIZE
    if not (training.steps or training.epochs or training.minutes):
        changes |= {"minutes": DEFAULT_MINUTES, "epochs": DEFAULT_EPOCHS}
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

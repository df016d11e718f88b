"""Prepare everything that training needs from a recipe: data, codec, network, plan. Nothing is written yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import nn

from seqlab.core.notify import Notify, ignore
from seqlab.core.seeds import derive
from seqlab.models.short_name import short_name
from seqlab.recipes.recipe import Recipe
from seqlab.runs.folder.layout import new_folder
from seqlab.runs.survey.data_survey import survey_parts, survey_warnings
from seqlab.runs.train.build import adapt, build_bare_model
from seqlab.runs.train.encoded_data import EncodedData, encode_data
from seqlab.runs.train.filled_recipe import FilledRecipe, fill_recipe
from seqlab.runs.train.learning_rate_search import measure_learning_rates
from seqlab.runs.train.plan import follow_plan, plan_run
from seqlab.runs.train.scoring_forecast import ScoringForecast, ScoringRehearsal
from seqlab.runs.transfer.pretrained_vectors import copy_vectors
from seqlab.runs.transfer.source_weights import copy_weights
from seqlab.sources.base import Source
from seqlab.sources.survey.report import Survey
from seqlab.tasks.codec import Codec
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.tasks.split import Split
from seqlab.training.budget import Budget
from seqlab.training.device import choose_device, use_threads
from seqlab.training.forecast import Forecast


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything that training needs, before anything is written."""

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
    """Guesses about the data, shown before anything slow."""
    reasons: list[str]
    warnings: list[str]
    survey: Survey
    sources: dict[str, Source]
    """The parts of the data before encoding."""
    clock: float
    """`perf_counter()` when the command started."""
    rehearsal: ScoringRehearsal
    forecast: Forecast | None = None
    scoring: ScoringForecast | None = None
    """How long scoring takes, if there is a time budget."""
    is_numbered: bool = False
    """Whether the folder name was chosen automatically, so that the next free number can be used."""


def prepare(
    recipe: Recipe,
    *,
    out: str = "",
    name: str = "",
    on_stage: Notify = ignore,
    on_note: Notify = ignore,
    clock: float | None = None,
    recorded: Budget | None = None,
) -> Prepared:
    """Prepare a run. All user errors surface here, before the folder is created.

    on_note: called with guesses about the data, before slow work starts.
    clock: `perf_counter()` when the command started, which is the start of a time budget.
    recorded: the plan of an earlier run to follow; without it, a few steps are timed for a new plan.
    """
    clock = perf_counter() if clock is None else clock
    if out:
        new_folder(out, name=name)  # fail early if the path is taken
    threads, device = use_threads(recipe.training.threads), choose_device(recipe.training)
    filled = fill_recipe(recipe, threads=threads, on_stage=on_stage, on_note=on_note)
    recipe, opened = filled.recipe, filled.opened
    on_stage("checking for duplicates and leaks")
    survey = survey_parts(opened.recipe, opened.parts)
    on_stage("fitting the tokenizer")
    codec = find_spec(recipe.task).load_parts().codec.fit(recipe, opened.parts["train"])
    data = encode_data(codec, opened, teacher=filled.teacher, device=device, on_stage=on_stage)
    model, weight_reasons = _init_model(filled, data)
    recipe, rate_reasons, rate_warnings = _find_rate(recipe, data, model, device=device, on_stage=on_stage)
    folder = new_folder(out, name=name or f"{data_name(recipe)}-{short_name(recipe.model)}")
    if recorded is None:
        on_stage("timing a few steps")
        plan = plan_run(recipe, data, survey, model, device=device, clock=clock)
    else:
        plan = follow_plan(recorded, data)
    survey_notes = survey_warnings(opened.recipe, survey)
    return Prepared(
        folder=folder,
        recipe=recipe,
        codec=codec,
        splits=data.splits,
        objective=plan.objective,
        model=model,
        device=device,
        budget=plan.budget,
        data=data.fingerprints(),
        guesses=opened.reasons,
        reasons=filled.reasons + weight_reasons + rate_reasons + plan.reasons,
        warnings=filled.warnings + survey_notes + rate_warnings + plan.warnings + data.warnings(),
        survey=survey,
        sources=data.sources,
        clock=clock,
        rehearsal=data.rehearsal,
        forecast=plan.forecast,
        scoring=plan.scoring,
        is_numbered=not out,
    )


def _init_model(filled: FilledRecipe, data: EncodedData) -> tuple[nn.Module, list[str]]:
    """Build the network before its first update: initialized from the seed, or with the weights of a run or
    a file.
    """
    recipe, reasons = filled.recipe, list[str]()
    torch.manual_seed(derive(recipe.training.seed, "weights"))
    model = build_bare_model(data.codec)
    data.objective.init_weights(model)
    if filled.source is not None and recipe.start.weights == "learned":
        copy_weights(model, filled.source, recipe)
    if recipe.start.vectors:
        reasons.append(copy_vectors(model, data.codec, recipe.start.vectors))
    adapt(model, recipe.start)
    data.objective.fit_statistics(model)
    return model, reasons


def _find_rate(
    recipe: Recipe, data: EncodedData, model: nn.Module, *, device: torch.device, on_stage: Notify
) -> tuple[Recipe, list[str], list[str]]:
    """The recipe with the suggestion of a range test, where it asks for one; reasons; warnings."""
    if not recipe.training.find_learning_rate:
        return recipe, [], []
    on_stage("testing learning rates")
    search = measure_learning_rates(model, data.objective, recipe, device=device)
    rate = search.suggestion
    recipe = recipe.changed(
        "training",
        find_learning_rate=False,
        learning_rate=recipe.training.learning_rate if rate is None else rate,
    )
    if rate is None:
        return (
            recipe,
            [],
            [f"learning-rate range test: {' '.join(search.sentences())} Using {search.current:g}."],
        )
    return (
        recipe,
        [f"learning rate {rate:g}, from a range test; set training.learning_rate=NUMBER to change it"],
        [],
    )


def data_name(recipe: Recipe) -> str:
    """Return the name of the file, or of its folder if the file has a generic name such as train."""
    path = Path(recipe.data.train)
    stem = path.name.partition(".")[0]
    return path.resolve().parent.name if stem in ("train", "training", "data", "input") else stem

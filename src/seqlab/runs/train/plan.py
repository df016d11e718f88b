"""Plan a run before its first update: how many steps fit between reading the data and scoring."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import torch
from torch import nn

from seqlab.pages.numbers import format_epochs
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings
from seqlab.runs.train.encoded_data import EncodedData
from seqlab.runs.train.held_out_sample import size_of
from seqlab.runs.train.scoring_forecast import ScoringForecast, ScoringRehearsal
from seqlab.runs.train.validation_sample import affordable_rows, describe_sample, validate_on
from seqlab.sources.base import Source
from seqlab.sources.survey.report import Survey
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.training.budget import SHARE_FOR_VALIDATION, Budget, scale_counts
from seqlab.training.forecast import Forecast, measure
from seqlab.training.settings import TrainingSettings

SCORED = ("test", "valid")
"""The splits that are scored after training, if they exist."""
FEW_EPOCHS = 3
"""Fewer epochs are seldom enough for a new model; a text stream or a fine-tuned model needs only one."""


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The number of steps of a run and how it is validated, planned from a few timed steps on this machine."""

    budget: Budget
    objective: Objective[Any, Any]
    """Validates on as many rows as the budget allows."""
    forecast: Forecast | None
    """The timing of a few steps; None if the plan of an earlier run is followed."""
    scoring: ScoringForecast | None
    """How long scoring takes, if there is a time budget."""
    reasons: list[str]
    warnings: list[str]


def plan_run(
    recipe: Recipe,
    data: EncodedData,
    survey: Survey,
    model: nn.Module,
    *,
    device: torch.device,
    clock: float,
) -> RunPlan:
    """Time training, validation and scoring, and split the budget between them.

    clock: `perf_counter()` when the command started.
    """
    valid = data.sources["valid"]
    size = size_of(valid, survey.parts["valid"])
    with naming_settings(recipe):  # the first forward pass may find that the data does not fit the network
        rows = affordable_rows(data.objective, valid, size, model, device=device)
        objective = validate_on(data.objective, valid, rows)
        forecast = measure(model, objective, recipe.training, device=device)
        scoring = _forecast_scoring(recipe.training, forecast, data.rehearsal, model)
    after = scoring.seconds(scored_sizes(data.sources, survey)) if scoring else 0.0
    budget = Budget.plan(
        recipe.training,
        steps_per_epoch=forecast.steps_per_epoch,
        step_seconds=forecast.step_seconds,
        validation_seconds=forecast.validation_seconds,
        before=perf_counter() - clock,
        validation_rows=rows,
        after=after,
    )
    return RunPlan(
        budget=budget,
        objective=objective,
        forecast=forecast,
        scoring=scoring,
        reasons=_describe_scaled_counts(recipe.training, budget) + describe_sample(valid, rows, size),
        warnings=plan_warnings(recipe, budget, forecast, scoring_seconds=after),
    )


def follow_plan(recorded: Budget, data: EncodedData) -> RunPlan:
    """Return the plan of an earlier run, without measuring anything."""
    objective = validate_on(data.objective, data.sources["valid"], recorded.validation_rows)
    return RunPlan(budget=recorded, objective=objective, forecast=None, scoring=None, reasons=[], warnings=[])


def scored_sizes(sources: Mapping[str, Source], survey: Survey) -> dict[str, int]:
    """Return the size of each scored split in rows, or characters of a text."""
    return {name: size_of(sources[name], survey.parts[name]) for name in SCORED if name in sources}


def _forecast_scoring(
    training: TrainingSettings, forecast: Forecast, rehearsal: ScoringRehearsal, model: nn.Module
) -> ScoringForecast | None:
    """Forecast how long scoring will take; None without a time budget."""
    if not training.minutes:
        return None
    scoring = rehearsal.forecast(model, limit=training.minutes * 60)
    return replace(scoring, calibration=forecast.validation_seconds)


def _describe_scaled_counts(training: TrainingSettings, budget: Budget) -> list[str]:
    """List the step counts of the recipe that are scaled in this run."""
    names = training.scale_with_budget
    if not names:
        return []
    scaled = scale_counts(training, budget.share).model_copy(update={"evaluate_every": budget.evaluate_every})
    values = ", ".join(f"{name}={round(getattr(scaled, name), 4)}" for name in names)
    about = "about " if budget.seconds is not None else ""
    return [
        f"scaled to {about}{budget.total_steps:,} steps: {values}; set training.NAME=NUMBER to change them"
    ]


def plan_warnings(recipe: Recipe, budget: Budget, forecast: Forecast, *, scoring_seconds: float) -> list[str]:
    """Return warnings about the time budget before a run starts.

    scoring_seconds: the time to score all rows; the budget may reserve less.
    """
    if budget.seconds is None:
        return []
    enough = 1 if find_spec(recipe.task).is_text_stream or recipe.start.run else FEW_EPOCHS
    epochs = budget.total_steps / forecast.steps_per_epoch
    is_short = epochs < enough and budget.total_steps != budget.most_steps
    is_slow = budget.before > budget.seconds / 2
    minutes = max(  # one value for both warnings
        _minutes_for_reading(budget) if is_slow else 0,
        _minutes_for_epochs(enough, budget.before + scoring_seconds, forecast) if is_short else 0,
    )
    warnings = []
    if is_slow:
        warnings.append(
            f"reading and preparing the data took {budget.before:.0f} s of a time budget of {budget.seconds:.0f} s,"
            f" which leaves {budget.training_seconds:.0f} s for training; for more time: --minutes {minutes}"
        )
    if is_short:
        warnings.append(
            f"there is time for {format_epochs(math.floor(10 * epochs) / 10)}, too few to learn much. For at least"
            f" {enough} epoch{'s' if enough > 1 else ''}: --minutes {minutes}, or a smaller model"
            f"{_smaller(recipe)}"
        )
    return warnings


def _minutes_for_reading(budget: Budget) -> int:
    """Return a budget in minutes of which reading the data takes less than half."""
    return math.ceil(2 * budget.before / 60) + math.ceil((budget.seconds or 0) / 60)


def _minutes_for_epochs(epochs: int, other_seconds: float, forecast: Forecast) -> int:
    """Return a budget in minutes that fits this many epochs and everything else."""
    needed = epochs * forecast.steps_per_epoch * forecast.step_seconds / (1 - SHARE_FOR_VALIDATION)
    return math.ceil((needed + other_seconds) / 60)


def _smaller(recipe: Recipe) -> str:
    size = getattr(recipe.model, "hidden_size", 0)
    return f" (model.hidden_size={size // 2})" if isinstance(size, int) and size > 1 else ""

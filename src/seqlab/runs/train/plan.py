"""The plan of a run before its first update: how many steps fit between reading the data and scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import nn

from seqlab.recipes.recipe import Recipe
from seqlab.runs.train.held_out_sample import size_of
from seqlab.runs.train.scoring_forecast import ScoringForecast, ScoringRehearsal
from seqlab.sources.base import Source
from seqlab.sources.survey.report import Survey
from seqlab.training.budget import Budget, scale_counts
from seqlab.training.forecast import Forecast
from seqlab.training.settings import TrainingSettings

SCORED = ("test", "valid")
"""The splits that are scored after training, where they exist."""


def scored_sizes(sources: Mapping[str, Source], survey: Survey) -> dict[str, int]:
    """The rows, or characters of a text, of the splits that are scored."""
    return {name: size_of(sources[name], survey.parts[name]) for name in SCORED if name in sources}


def forecast_scoring(
    training: TrainingSettings, forecast: Forecast, rehearsal: ScoringRehearsal, model: nn.Module
) -> ScoringForecast | None:
    """How long scoring will take; None in a run without a time budget, which need not know."""
    if not training.minutes:
        return None
    scoring = rehearsal.forecast(model, limit=training.minutes * 60)
    return replace(scoring, calibration=forecast.validation_seconds)


def plan_budget(
    recipe: Recipe,
    forecast: Forecast,
    scoring: ScoringForecast | None,
    sources: Mapping[str, Source],
    survey: Survey,
    *,
    before: float,
) -> Budget:
    """before: seconds since the command started."""
    return Budget.plan(
        recipe.training,
        steps_per_epoch=forecast.steps_per_epoch,
        step_seconds=forecast.step_seconds,
        validation_seconds=forecast.validation_seconds,
        before=before,
        after=scoring.seconds(scored_sizes(sources, survey)) if scoring else 0.0,
    )


def fitted_counts(training: TrainingSettings, budget: Budget) -> list[str]:
    """Which step counts of the recipe are others in this run."""
    names = training.scale_with_budget
    if not names:
        return []
    scaled = scale_counts(training, budget.share).model_copy(update={"evaluate_every": budget.evaluate_every})
    values = ", ".join(f"{name}={round(getattr(scaled, name), 4)}" for name in names)
    about = "about " if budget.seconds is not None else ""
    return [f"fitted to {about}{budget.total_steps:,} steps: {values}; otherwise: training.NAME=NUMBER"]

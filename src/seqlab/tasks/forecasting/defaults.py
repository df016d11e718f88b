"""Default context, patches, network and batches of a forecaster, with their reasons."""

from __future__ import annotations

import numpy as np

from seqlab.core.errors import RecipeError
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.pages.numbers import count_of
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.forecasting.naive_start import better_naive
from seqlab.tasks.forecasting.series import SeriesRow, time_series
from seqlab.tasks.forecasting.settings import ForecastingSettings

NETWORK = RecurrentSettings(hidden_size=64, dropout=0.1)
LEAST_CONTEXT = 16
SMALLEST_PATCH = 8
"""A shorter season is not worth a patch."""
BATCH_SIZE, LEARNING_RATE = 64, 3e-3


def with_defaults(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Fill in what the recipe leaves open from the lengths and the frequency of the training series."""
    reject_conflicts(recipe)
    steps = median_length(train)
    recipe, reasons = _with_season(recipe, train, steps)
    recipe, about_context = _with_context(recipe, steps)
    recipe, about_patch = _with_patch(recipe)
    recipe, about_naive = _with_naive(recipe, train)
    reasons += about_context + about_patch + about_naive
    if "model" not in recipe.model_fields_set:
        recipe = recipe.model_copy(update={"model": NETWORK})
        reasons.append("an lstm model; use --model NAME to change it (linear, cnn, transformer, …)")
    recipe = recipe.with_defaults("training", learning_rate=LEARNING_RATE)
    if not recipe.training.batch_size:
        recipe = recipe.changed("training", batch_size=BATCH_SIZE)
    return recipe, reasons


def median_length(train: Source) -> int:
    return int(np.median([len(SeriesRow(row).targets) for row in train.rows()]))


def _with_season(recipe: Recipe, train: Source, steps: int) -> tuple[Recipe, list[str]]:
    """Set the season of the frequency, and the horizon."""
    frequency, reasons = time_series(train).frequency, list[str]()
    settings = recipe.section(ForecastingSettings)
    if not settings.season:
        longest = min(steps // 2, settings.context or steps)
        season = natural if (natural := time_series(train).season) <= longest else 1
        recipe = recipe.changed("forecasting", season=season)
        if season > 1:
            reasons.append(
                f"a season of {season} steps ({frequency.name} data); set forecasting.season=NUMBER to change it"
            )
    if not recipe.data.horizon:
        horizon = max(1, min(frequency.horizon(recipe.section(ForecastingSettings).season), steps // 10))
        recipe = recipe.changed("data", horizon=horizon)
        reasons.append(f"forecasts of {count_of(horizon, 'step')}; set data.horizon=NUMBER to change it")
    return recipe, reasons


def _with_context(recipe: Recipe, steps: int) -> tuple[Recipe, list[str]]:
    """Read at least two seasons and three horizons, but at most half of a training series."""
    settings, horizon = recipe.section(ForecastingSettings), recipe.data.horizon
    if settings.context:
        if settings.season > settings.context:
            raise RecipeError(
                f"{settings.context} steps are less than a season of {settings.season}.",
                where="forecasting.context",
                cure=f"Set it to {settings.season} or more, or forecasting.season=1.",
            )
        return recipe, []
    wanted = max(2 * settings.season, 3 * horizon, LEAST_CONTEXT)
    context = max(settings.season, 1, min(wanted, steps // 2))
    if settings.season > 1:  # whole seasons
        context = max(1, context // settings.season) * settings.season
    why = f"the network reads {count_of(context, 'step')} before a forecast; set forecasting.context=NUMBER to change it"
    return recipe.changed("forecasting", context=context), [why]


def _with_patch(recipe: Recipe) -> tuple[Recipe, list[str]]:
    """Read a season as one step where it is long, and the context has whole ones."""
    settings = recipe.section(ForecastingSettings)
    if settings.patch > settings.context:
        raise RecipeError(
            f"a patch of {settings.patch} steps is longer than the context of {settings.context}.",
            where="forecasting.patch",
            cure=f"Set it to {settings.context} or less.",
        )
    if settings.patch:
        return recipe, []
    is_long = settings.season >= SMALLEST_PATCH and settings.context % settings.season == 0
    if not is_long or isinstance(recipe.model, LinearSettings):
        return recipe.changed("forecasting", patch=1), []
    why = f"{settings.season} steps, a season, are read as one; set forecasting.patch=1 to read every step"
    return recipe.changed("forecasting", patch=settings.season), [why]


def _with_naive(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Choose the naive forecast that the network starts from."""
    settings = recipe.section(ForecastingSettings)
    if settings.naive:
        return recipe, []
    series = (SeriesRow(row).targets for row in train.rows())
    naive = better_naive(series, season=settings.season, horizon=recipe.data.horizon)
    name = {"last": "value", "season": "season"}[naive]
    why = f"the network corrects a forecast that repeats the last {name}; set forecasting.naive=NAME to change it"
    return recipe.changed("forecasting", naive=naive), [why] if settings.season > 1 else []


def reject_conflicts(recipe: Recipe) -> None:
    """Reject settings that contradict each other."""
    settings = recipe.section(ForecastingSettings)
    if settings.strategy == "recursive" and recipe.data.features:
        raise RecipeError(
            "the features of later steps are not known, so predicted steps cannot be read again.",
            where="forecasting.strategy",
            cure="Use forecasting.strategy=direct, or declare them as known in advance with data.known=NAME,NAME",
        )

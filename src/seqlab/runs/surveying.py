"""A look at all parts of the data before anything is learned from them. No torch here: the data report answers at once."""

from __future__ import annotations

from collections.abc import Mapping

from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import LANGUAGE_MODELS
from seqlab.sources.base import Source
from seqlab.sources.survey import Survey, survey
from seqlab.tasks.labelled_rows import STEPS, names_in


def survey_parts(recipe: Recipe, parts: Mapping[str, Source]) -> Survey:
    """What could spoil an honest score, whatever the task reads: texts, sentences, series or one long text."""
    is_series = any(STEPS in source.columns for source in parts.values())
    label = "" if recipe.task == "regression" else recipe.data.label  # numbers are no classes
    return survey(
        parts, text=STEPS if is_series else recipe.data.text or "text", label=label, names=names_in(recipe), is_stream=recipe.task in LANGUAGE_MODELS
    )


def survey_warnings(recipe: Recipe, found: Survey) -> list[str]:
    """The sentences that deserve a look; empty lines are usual in a text."""
    return [warning for warning in found.warnings if not (recipe.task in LANGUAGE_MODELS and "empty texts" in warning)]

"""A look at all parts of the data before anything is learned from them. No torch here: the data report answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import LANGUAGE_MODELS
from seqlab.runs.survey.cache import kept_survey
from seqlab.runs.survey.image_names import PictureNames
from seqlab.sources.base import Source
from seqlab.sources.survey.report import Survey, survey
from seqlab.tasks.labeled.labeled_rows import STEPS, names_in


def survey_parts(recipe: Recipe, parts: Mapping[str, Source], *, more: str | Path | None = None) -> Survey:
    """What could spoil an honest score, whatever the task reads: texts, sentences, series or one long text.

    `more` is the path of a part that the recipe does not name. The same data is looked at once; afterwards the answer is kept.
    """
    data = recipe.data
    if recipe.task == "captioning":
        parts = {name: PictureNames(source, data.source) for name, source in parts.items()}
    is_series = any(STEPS in source.columns for source in parts.values())
    label = "" if recipe.task == "regression" else data.label  # numbers are no classes
    text, is_stream = STEPS if is_series else data.text or "text", recipe.task in LANGUAGE_MODELS
    return kept_survey(
        parts,
        lambda: survey(parts, text=text, label=label, names=names_in(recipe), is_stream=is_stream),
        asked={"task": recipe.task, "text": text, "label": label, "label_separator": data.label_separator},
        paths=[str(path) for path in (data.train, data.valid, data.test, more) if path and Path(path).exists()],
    )


def survey_warnings(recipe: Recipe, found: Survey) -> list[str]:
    """The sentences that deserve a look; empty lines are usual in a text, several captions of a picture and several languages in a table."""
    comes_again = recipe.task == "captioning" or bool(recipe.data.language)
    usual = "empty text" if recipe.task in LANGUAGE_MODELS else "an earlier one" if comes_again else ""
    return [warning for warning in found.warnings if not (usual and usual in warning)]

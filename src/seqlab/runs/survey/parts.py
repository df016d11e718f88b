"""A look at all parts of the data before anything is learned from them.

No torch here: the data report answers at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from seqlab.recipes.recipe import Recipe
from seqlab.runs.survey.cache import kept_survey
from seqlab.sources.base import STEPS, Source
from seqlab.sources.survey.report import Survey, survey
from seqlab.tasks.spec import find_spec


def survey_parts(recipe: Recipe, parts: Mapping[str, Source], *, more: str | Path | None = None) -> Survey:
    """What could spoil an honest score, whatever the task reads: texts, sentences, series or one long text.

    `more` is the path of a part that the recipe does not name. The same data is looked at once; afterwards
    the answer is kept.
    """
    data, spec = recipe.data, find_spec(recipe.task)
    parts = {name: spec.survey_source(source, data) for name, source in parts.items()}
    is_series = any(STEPS in source.columns for source in parts.values())
    label, text = data.label if spec.has_class_labels else "", STEPS if is_series else data.text or "text"
    return kept_survey(
        parts,
        lambda: survey(
            parts, text=text, label=label, names=spec.class_names(data), is_stream=spec.is_text_stream
        ),
        asked={"task": recipe.task, "text": text, "label": label, "label_separator": data.label_separator},
        paths=[
            str(path) for path in (data.train, data.valid, data.test, more) if path and Path(path).exists()
        ],
    )


def survey_warnings(recipe: Recipe, survey: Survey) -> list[str]:
    """The sentences that deserve a look; empty lines are usual in a text, several captions of a picture and
    several languages in a table.
    """
    usual = find_spec(recipe.task).usual_warning(recipe.data)
    return [warning for warning in survey.warnings if not (usual and usual in warning)]

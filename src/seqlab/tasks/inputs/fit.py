"""Choose the kind of input for a dataset: its numeric steps if it has any, else its text."""

from __future__ import annotations

from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Source
from seqlab.tasks.inputs.base import CutInputs
from seqlab.tasks.inputs.numeric import NUMERIC, NumericInputs
from seqlab.tasks.inputs.text import TextInputs
from seqlab.tasks.inputs.tokens import known_tokens


def fit_inputs(recipe: Recipe, train: Source) -> CutInputs:
    """Fit inputs on the training split; those of a run to start from are used unchanged."""
    folder = known_tokens(recipe)
    has_steps = STEPS in train.columns
    if folder is not None and has_steps != (folder / NUMERIC).is_file():
        before, now = ("text", "series of numbers") if has_steps else ("series of numbers", "text")
        raise DataError(
            f"this data has {now}, but the run {folder.parent} reads {before}.",
            where=train.name,
            cure=f"Use data with {before}, or train without that run.",
        )
    if folder is not None and has_steps:
        return load_inputs(recipe, folder)
    return NumericInputs.fit(recipe, train) if has_steps else TextInputs.fit(recipe, train)


def load_inputs(recipe: Recipe, folder: Path) -> CutInputs:
    """Load the inputs that `save` wrote."""
    kind = NumericInputs if (folder / NUMERIC).is_file() else TextInputs
    return kind.load(recipe, folder)

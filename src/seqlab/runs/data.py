"""Open the data of a recipe, and explain every guess about its task and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqlab.core.errors import RecipeError, listed
from seqlab.core.notify import Notify, ignore
from seqlab.datasets.base import datasets
from seqlab.recipes.read import with_task
from seqlab.recipes.recipe import Recipe
from seqlab.runs.missing_file import missing_file
from seqlab.sources import open_dataset as files
from seqlab.sources.base import Source
from seqlab.sources.opened_data import OpenedData
from seqlab.sources.settings import DataSettings
from seqlab.tasks.guess import guess_task
from seqlab.tasks.spec import TaskSpec, find_spec

MADE_TO_MEASURE = {"gap": ["recall"], "length": ["copy", "reverse"]}
"""Settings that apply only to some built-in datasets."""


@dataclass(frozen=True)
class RunData:
    """The parts of the data by name (train and, if present, valid and test), the recipe with guesses filled
    in, and the reasons for them.
    """

    recipe: Recipe
    parts: dict[str, Source]
    reasons: list[str]
    warnings: list[str] = field(default_factory=list)


def require_files(recipe: Recipe) -> None:
    """Check that every file of the recipe exists. Nothing is read, so this is fast."""
    data = recipe.data
    if not data.train:
        raise RecipeError(
            "no training data is set.", where="data.train", cure="For example: data.train=reviews.csv"
        )
    if error := missing_file(data):
        raise error
    _reject_dataset_settings(recipe)


def open_data(recipe: Recipe, *, on_note: Notify = ignore) -> RunData:
    """Open the data, guess the task and the columns, and hold out missing splits.

    on_note: called with each guess as soon as it is made.
    """
    require_files(recipe)
    if recipe.data.train in datasets.names() and not files.exists(recipe.data.train, recipe.data):
        built_in = _open_built_in(recipe)
        for reason in built_in.reasons:
            on_note(reason)
        return built_in
    spec = find_spec(recipe.task) if recipe.task else None
    data, seed = recipe.data, recipe.training.seed

    def choose(train: Source) -> tuple[TaskSpec, list[str]]:
        if spec is not None:
            return spec, []
        guess = guess_task(train, data)
        return guess.spec, guess.reasons

    form = spec.format_of(Path(data.train), data) if spec is not None and not data.format else ""
    chosen, opened = files.open_dataset(data, choose, seed=seed, file_format=form, on_note=on_note)
    recipe = with_task(recipe, chosen.name).model_copy(update={"data": opened.settings})
    return RunData(recipe, opened.parts, opened.reasons, opened.warnings)


def open_further_data(recipe: Recipe, path: str) -> Source:
    """Open new labeled data for a finished run, in the format of its training data."""
    return files.open_further(path, recipe.data, find_spec(recipe.task))


def open_prediction_inputs(recipe: Recipe, path: str) -> Iterator[Any]:
    """Open a file of inputs for a finished run to predict."""
    return files.open_inputs(path, recipe.data, find_spec(recipe.task))


def with_columns(recipe: Recipe, source: Source) -> Recipe:
    """Set the columns of a source in the recipe of imported weights, which has none."""
    data, _ = find_spec(recipe.task).find_columns(source, recipe.data)
    return recipe.model_copy(update={"data": data})


def _reject_dataset_settings(recipe: Recipe) -> None:
    """Reject settings that only some built-in datasets support."""
    for setting, names in MADE_TO_MEASURE.items():
        value = getattr(recipe.data, setting)
        if value != getattr(DataSettings(), setting) and recipe.data.train not in names:
            raise RecipeError(
                f"this setting applies only to the built-in dataset{'s' if len(names) > 1 else ''}"
                f" {listed([repr(name) for name in names])}.",
                where=f"data.{setting}",
                cure=f"seqlab train {names[0]} data.{setting}={value}",
            )


def _open_built_in(recipe: Recipe) -> RunData:
    dataset = datasets.get(recipe.data.train).from_settings(recipe.data)
    spec = find_spec(recipe.task or dataset.task)
    recipe = with_task(recipe, spec.name)
    for name, value in dataset.settings.items():
        section, _, key = name.partition(".")
        if not getattr(getattr(recipe, section), key):
            recipe = recipe.changed(section, **{key: value})
    if spec.generates:
        recipe = recipe.changed("data", text=recipe.data.source)
    parts = {**dataset.splits(), **files.open_named_parts(recipe.data)}
    files.check_columns(spec, recipe.data, parts.values())
    reasons = [f"built-in dataset '{recipe.data.train}': {dataset.description}"]
    opened = files.subsampled(OpenedData(recipe.data, parts, reasons), seed=recipe.training.seed)
    return RunData(recipe, opened.parts, reasons)

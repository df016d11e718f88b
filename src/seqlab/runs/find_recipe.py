"""What a user asks to train on -> a checked recipe.

No torch here: mistakes in settings are answered at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqlab.datasets.base import datasets
from seqlab.recipes.keywords import dotted_names
from seqlab.recipes.overrides import assigned_names
from seqlab.recipes.read import Raw, check, override, read_raw, shipped_recipes
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.smaller_budget import fit_to_budget
from seqlab.runs.folder.layout import read_recipe
from seqlab.runs.transfer.warm_start import (
    find_source,
    refuse_differences,
    refuse_idle_settings,
    with_kinds_of,
)
from seqlab.training.settings import StartSettings


def find_recipe(
    what: str,
    assignments: list[str],
    *,
    task: str = "",
    model: str = "",
    start: str = "",
    values: Mapping[str, Any] | None = None,
) -> tuple[Recipe, str]:
    """WHAT is a recipe (shipped name or .toml), a built-in dataset, or data; START a run to start from.

    values: settings by name, with or without their section; they come after the assignments.
    Returns the recipe and a name for the run.
    """
    raw: Raw = {"data": {"train": what}}
    name, where = "", "settings"
    if what in shipped_recipes() or what.endswith(".toml"):
        raw, name, where = read_raw(what), Path(what).name.removesuffix(".toml"), what
    elif what in datasets.names() and not Path(what).exists():
        name = f"{what}-{model}" if model else what
    if task:
        raw["task"] = task
    known_task = raw["task"] if isinstance(raw.get("task"), str) else ""
    overrides = {**({"start.run": start} if start else {}), **dotted_names(values or {}, task=known_task)}
    changed = override(raw, assignments, model=model, values=overrides)
    raw = fit_to_budget(raw, changed, [*assigned_names(assignments), *overrides])
    return _check(raw, where=where), name


def _check(raw: Raw, *, where: str) -> Recipe:
    """The recipe; where it starts from another run, in the terms of that run's network."""
    run = raw["start"].get("run") if isinstance(raw.get("start"), dict) else None
    if not run or not isinstance(run, str):
        recipe = check(raw, where=where)
        refuse_idle_settings(recipe.start)
        return recipe
    source = read_recipe(find_source(StartSettings(run=run)))
    recipe = check(with_kinds_of(raw, source), where=where)
    refuse_differences(recipe, source)
    return recipe

"""What a user asks to train on -> a checked recipe. No torch here: mistakes in settings are answered at once."""

from __future__ import annotations

from pathlib import Path

from seqlab.datasets.base import datasets
from seqlab.recipes.reading import Raw, check, override, read_raw, shipped_recipes
from seqlab.recipes.recipe import Recipe


def find_recipe(what: str, assignments: list[str], *, task: str = "", model: str = "") -> tuple[Recipe, str]:
    """WHAT is a recipe (shipped name or .toml), a built-in dataset, or data. Returns the recipe and a name for the run."""
    raw: Raw = {"data": {"train": what}}
    name, where = "", "settings"
    if what in shipped_recipes() or what.endswith(".toml"):
        raw, name, where = read_raw(what), Path(what).name.removesuffix(".toml"), what
    elif what in datasets.names() and not Path(what).exists():
        name = f"{what}-{model}" if model else what
    if task:
        raw["task"] = task
    return check(override(raw, assignments, model=model), where=where), name

"""Turn what a user asks to train into a checked recipe.

Does not import torch, so mistakes in settings are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.core.errors import RecipeError
from seqlab.datasets.base import datasets
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.overrides import assigned_names, override, unknown_model
from seqlab.recipes.problems import unknown_to_every_kind
from seqlab.recipes.read import Raw, check, read_raw, shipped_recipes
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import dotted_names
from seqlab.runs.folder.layout import read_recipe
from seqlab.runs.missing_file import missing_file_of
from seqlab.runs.transfer.warm_start import (
    find_source,
    reject_incompatible_settings,
    with_kinds_of,
)
from seqlab.training.budget import scale_count
from seqlab.training.settings import STEP_COUNTS, StartSettings


def find_recipe(
    what: str,
    assignments: list[str],
    *,
    task: str = "",
    model: str = "",
    start: str = "",
    values: Mapping[str, Any] | None = None,
    mistakes: Sequence[str] = (),
) -> tuple[Recipe, str]:
    """Find the recipe for WHAT: a recipe (shipped name or .toml), a built-in dataset, or data. START is a run to fine-tune.

    values: settings by name, with or without their section; applied after the assignments. mistakes: those that
    are known already. Returns the recipe and a name for the run. One error lists all mistakes, and a missing file.
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
    named, unclear = dotted_names(values or {}, task=known_task)
    mistakes = [*mistakes, *unclear]
    overrides = {**({"start.run": start} if start else {}), **named}
    is_known = not model or model in MODEL_ALIASES
    changed = override(raw, assignments, model=model if is_known else "", values=overrides)
    if not is_known:
        error, settings = unknown_model(model), changed.pop("model", {})
        mistakes.append(f"{error.where}: {error.what} {error.cure}")
        mistakes += unknown_to_every_kind("model", settings if isinstance(settings, dict) else {})
    raw = fit_to_budget(raw, changed, [*assigned_names(assignments), *overrides])
    try:
        return _check(raw, mistakes, where=where), name
    except RecipeError:
        if missing := missing_file_of(raw):
            _check(raw, [*mistakes, missing.message.replace("\n ", "")], where=where)
        raise


def task_of_section(recipe: Recipe, what: str, assignments: list[str], *, task: str = "") -> str:
    """Explain the task of a recipe if it follows only from a setting in the task's section; empty
    otherwise.
    """
    names = list(assigned_names(assignments))
    chosen = next((name for name in names if name.partition(".")[0] == recipe.task), "")
    is_named = task or "task" in names or what in shipped_recipes() or what.endswith(".toml")
    if not recipe.task or is_named or not chosen:
        return ""
    return f"task {recipe.task}, because {chosen} is one of its settings; set task=NAME to change the task"


def _check(raw: Raw, mistakes: Sequence[str], *, where: str) -> Recipe:
    """Check the recipe; if it starts from another run, against the network of that run."""
    run = raw["start"].get("run") if isinstance(raw.get("start"), dict) else None
    if not run or not isinstance(run, str):
        return check(raw, where=where, mistakes=mistakes)
    source = read_recipe(find_source(StartSettings(run=run)))
    recipe = check(with_kinds_of(raw, source), where=where, mistakes=mistakes)
    reject_incompatible_settings(recipe, source)
    return recipe


BUDGETS = {"steps", "epochs", "minutes"}


def fit_to_budget(recipe: Raw, changed: Raw, names: Iterable[str]) -> Raw:
    """Scale the step counts of a recipe if the user has set another budget.

    `changed` is the recipe with the user's settings, whose dotted names are `names`; step counts among them are
    not scaled.

    Fewer steps or epochs are applied here. How many steps a time budget allows is known only later:
    scale_with_budget tells the run what to scale. A recipe that sets minutes does not plan a number of
    steps, so its counts are not scaled.
    """
    before, after = _section(recipe), _section(changed)
    assigned = {name.removeprefix("training.") for name in names}
    if "scale_with_budget" in assigned or not BUDGETS & assigned:
        return changed
    named = before.get("scale_with_budget")
    relative = (named if isinstance(named, list) else []) if _number(before.get("minutes")) else STEP_COUNTS
    counts = [
        name
        for name in STEP_COUNTS
        if name in relative and name not in assigned and _number(before.get(name))
    ]
    if not counts or not any(_number(before.get(unit)) for unit in ("steps", "epochs")):
        return changed
    share = _share(before, after)
    shrunk = {name: scale_count(name, before[name], share) for name in counts}
    return {**changed, "training": {**after, **shrunk, "scale_with_budget": counts}}


def _section(raw: Raw) -> Raw:
    section = raw.get("training")
    return section if isinstance(section, dict) else {}


def _number(value: Any) -> float:
    """Return a positive number, or 0 for anything else, which the check of the recipe reports."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def _share(before: Raw, after: Raw) -> float:
    """Return the remaining share of the recipe's planned steps or, without them, epochs."""
    unit = "steps" if _number(before.get("steps")) else "epochs"
    if unit == "epochs" and _number(after.get("steps")):
        return 1.0  # how many epochs that is becomes known when the data is read
    return min(1.0, (_number(after.get(unit)) or _number(before[unit])) / _number(before[unit]))

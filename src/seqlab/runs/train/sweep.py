"""Several trainings that belong together: one for each seed, or for each model and seed.

What is finished is not trained again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.core.notify import Notify, ignore
from seqlab.recipes.recipe import Recipe
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.folder.layout import RECIPE, RESULTS
from seqlab.runs.folder.manifest import read_manifest
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import resume, train
from seqlab.training.base import Callback

FORMAT = 1
Begin = Callable[[str, Prepared | None], None]
"""Told the name of each training as it begins, with what was prepared; None where a stopped one goes on."""
Watch = Callable[[], AbstractContextManager[Callback | None]]
"""Makes a callback for each training."""


@dataclass(frozen=True)
class PlannedRun:
    """One training: its name, its folder, and the settings that make its recipe, as words and by name."""

    name: str
    folder: Path
    settings: tuple[str, ...]
    values: Mapping[str, Any]
    model: str = ""


def plan_seeds(
    recipe: Recipe,
    settings: Sequence[str],
    count: int,
    *,
    name: str,
    folder: Callable[[int], Path],
    values: Mapping[str, Any] | None = None,
    model: str = "",
) -> list[PlannedRun]:
    """Trainings that differ in training.seed only, from that of the recipe upwards.

    The rows that are held out stay those of the first.
    """
    first = recipe.training.seed
    same = {**(values or {}), **({"data.seed": first} if recipe.data.seed < 0 else {})}
    return [
        PlannedRun(
            f"{name}-seed{seed}", folder(seed), tuple(settings), {**same, "training.seed": seed}, model
        )
        for seed in range(first, first + count)
    ]


def is_finished(folder: Path) -> bool:
    """Whether a run was scored to the end; one of an earlier format was not, and resuming it writes what is
    missing.
    """
    try:
        return (
            (folder / RECIPE).is_file() and (folder / RESULTS).is_file() and read_manifest(folder).is_scored
        )
    except RunError:
        return False  # resuming it says what is wrong


def train_planned(
    what: str,
    planned: PlannedRun,
    *,
    task: str = "",
    watch: Watch = nullcontext,
    on_stage: Notify = ignore,
    begin: Begin = lambda _, __: None,
) -> Run:
    """Train one, go on where it was stopped, or load it if it is finished."""
    if is_finished(planned.folder):
        return Run.load(planned.folder)
    if (planned.folder / RECIPE).is_file():
        begin(planned.name, None)
        with watch() as callback:
            return resume(planned.folder, callback=callback, on_stage=on_stage)
    recipe, _ = find_recipe(
        what, list(planned.settings), task=task, model=planned.model, values=planned.values
    )
    prepared = prepare(recipe, out=str(planned.folder), on_stage=on_stage)
    begin(planned.name, prepared)
    with watch() as callback:
        return train(prepared, callback=callback, on_stage=on_stage)


def write_plan(path: Path, plan: dict[str, Any], folders: Sequence[Path]) -> None:
    """Write what is asked for, or refuse a folder in which something else was begun. How many seeds there are
    may change.

    A run that stands in one of its folders before there is a plan may have other settings, so it is not taken
    for a part of it.
    """
    if path.is_file():
        before = read_plan(path)
        changed = sorted(
            name
            for name in plan.keys() | before.keys()
            if name != "seeds" and plan.get(name) != before.get(name)
        )
        if changed:
            differences = ", ".join(f"{name} {before.get(name)!r} -> {plan.get(name)!r}" for name in changed)
            raise RunError(
                f"something else was begun here ({differences}).",
                where=str(path),
                cure="Choose another folder with --out, or remove this one.",
            )
    elif taken := [folder for folder in folders if (folder / RECIPE).is_file()]:
        raise RunError(
            "a run that was not begun here stands in the way.",
            where=str(taken[0]),
            cure="Choose another --out, or remove the run.",
        )
    else:
        write_whole(path, json.dumps({"format": FORMAT, "plan": plan}, indent=1, ensure_ascii=False))


def read_plan(path: Path) -> dict[str, Any]:
    """The plan that a file of results begins with."""
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))["plan"]
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path) from error
    if not isinstance(plan, dict):
        raise _unreadable(path)
    return plan


def _unreadable(path: Path) -> RunError:
    return RunError(
        "the file cannot be read.",
        where=str(path),
        cure="Restore it from a copy, or choose another folder with --out.",
    )

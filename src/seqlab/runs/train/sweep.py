"""Sweeps: several training runs that belong together, one per seed, or one per model and seed.

Finished runs are not trained again.
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
"""Called with the name of each training run when it begins, and with what was prepared; None if a run is
resumed.
"""
Watch = Callable[[], AbstractContextManager[Callback | None]]
"""Creates a callback for each training run."""


@dataclass(frozen=True)
class PlannedRun:
    """One training run: its name, its folder, and the settings of its recipe, as arguments and by name."""

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
    """Plan runs that differ only in training.seed, starting from the seed of the recipe.

    All of them hold out the same rows as the first.
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
    """Whether a run is scored; a run of an earlier format is not, and resuming it writes what is missing."""
    try:
        return (
            (folder / RECIPE).is_file() and (folder / RESULTS).is_file() and read_manifest(folder).is_scored
        )
    except RunError:
        return False  # resuming it reports the problem


def train_planned(
    what: str,
    planned: PlannedRun,
    *,
    task: str = "",
    watch: Watch = nullcontext,
    on_stage: Notify = ignore,
    begin: Begin = lambda _, __: None,
) -> Run:
    """Train a planned run, resume it if it was interrupted, or load it if it is finished."""
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
    """Write the plan, or reject a folder that has a different plan. Only the number of seeds may change.

    A run that exists in one of the folders without a plan may have other settings, so it is rejected too.
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
                f"this folder has a different plan ({differences}).",
                where=str(path),
                cure="Choose another folder with --out, or remove this one.",
            )
    elif taken := [folder for folder in folders if (folder / RECIPE).is_file()]:
        raise RunError(
            "the folder contains a run that is not part of this plan.",
            where=str(taken[0]),
            cure="Choose another --out, or remove the run.",
        )
    else:
        write_whole(path, json.dumps({"format": FORMAT, "plan": plan}, indent=1, ensure_ascii=False))


def read_plan(path: Path) -> dict[str, Any]:
    """Read the plan at the beginning of a results file."""
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

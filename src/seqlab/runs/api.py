"""The two functions that Python users meet first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqlab.runs.compare.compare import Comparison, compare_runs
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.start import prepare
from seqlab.runs.train.start import train as train_prepared


def train(
    what: str | Path,
    *assignments: str,
    task: str = "",
    model: str = "",
    minutes: float = 0,
    steps: int = 0,
    seed: int | None = None,
    out: str | Path = "",
    start: str | Path = "",
    **data: Any,
) -> Run:
    """Train on a file, folder, built-in dataset or recipe.

    `start` is a finished run whose tokens, sizes and weights are taken over.
    Further settings are given by their dotted names ("training.clip_norm=0.5"), those of the data also by keyword (text="review").
    """
    words = list(assignments) + [f"data.{name}={value}" for name, value in data.items()]
    words += [f"training.{name}={value}" for name, value in (("minutes", minutes), ("steps", steps)) if value]
    words += [f"training.seed={seed}"] if seed is not None else []
    recipe, name = find_recipe(str(what), words, task=task, model=model, start=str(start))
    return train_prepared(prepare(recipe, out=str(out), name=name))


def load(path: str | Path) -> Run:
    """A finished run, by its folder or by its name below runs/."""
    return Run.load(path)


def compare(runs: Sequence[str | Path], *, data: str | Path | None = None, against: str | Path = "") -> Comparison:
    """Several runs on the test part that they share, or on further data: scores side by side and paired tests against the first.

    `against` names another one to compare with.

    `sentences()` says who is better and whether that is more than chance; `differences["accuracy"]["NAME"]` has the numbers.
    """
    return compare_runs(runs, data=data, against=str(against))

"""The functions that Python users meet first: train, load, compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqlab.cli.progress import TerminalProgress
from seqlab.cli.train import announce, show_curve, show_warnings
from seqlab.core.errors import UsageError
from seqlab.runs.compare.compare import Comparison, compare_runs
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import train as train_prepared
from seqlab.sources.in_memory import is_table, save_table
from seqlab.training.base import Callback
from seqlab.training.callbacks.callback_list import CallbackList


def train(
    data: Any,
    *assignments: str,
    task: str = "",
    model: str = "",
    minutes: float = 0,
    steps: int = 0,
    epochs: float = 0,
    seed: int | None = None,
    out: str | Path = "",
    start: str | Path = "",
    callbacks: Sequence[Callback] = (),
    verbose: bool = True,
    **settings: Any,
) -> Run:
    """Train a model and score it.

    Args:
        data: A file, a folder, a built-in dataset or a recipe; or a table in memory: a list of dicts, a
            pandas DataFrame or a
            Hugging Face dataset.
        assignments: Further settings as on the command line: ``"training.clip_norm=0.5"``.
        task: The task, such as ``"classification"``; guessed from the data when left out.
        model: The model, such as ``"lstm"`` or ``"transformer"``; chosen for the data when left out.
        minutes: Time budget of the whole call: reading, training, scoring and the report.
        steps: Number of updates.
        epochs: Number of passes over the training data.
        seed: Fixes the split, the initial weights, the order of the data and dropout.
        out: The folder of the run; below ``runs/`` when left out.
        start: A finished run to fine-tune: its tokens, network and weights are used.
        callbacks: Objects that are told about every update and every validation.
        verbose: Whether to print what was inferred, progress and warnings on standard error.
        settings: Settings by name where the name is unique (``learning_rate=1e-3``, ``text="review"``), or by
            dotted name
            (``**{"model.dropout": 0.3}``).

    Returns:
        The finished run, with `results`, `predict`, `evaluate` and more.
    """
    budget = {"training.minutes": minutes, "training.steps": steps, "training.epochs": epochs}
    values = {name: value for name, value in budget.items() if value} | settings
    if seed is not None:
        values["training.seed"] = seed
    what = str(save_table(data)) if is_table(data) else data
    if isinstance(data, list) and not data:
        raise UsageError("the list of rows is empty.", where="train(data)")
    if not isinstance(what, str | Path):
        raise UsageError(
            f"cannot train on data of the type {type(data).__name__}.",
            where="train(data)",
            cure=(
                "Pass a file, a folder, the name of a built-in dataset or a recipe, a list of dicts or a"
                " DataFrame."
            ),
        )
    recipe, name = find_recipe(
        str(what), list(assignments), task=task, model=model, start=str(start), values=values
    )
    prepared = prepare(recipe, out=str(out), name=name)
    if verbose:
        announce(prepared)
    with TerminalProgress(quiet=not verbose) as progress:
        run = train_prepared(prepared, callback=CallbackList([progress, *callbacks]))
    if verbose:
        show_warnings(run, known=prepared.warnings)
        show_curve(run)
    return run


def load(path: str | Path) -> Run:
    """Load a finished run by its folder, or by its name below ``runs/``.

    Every file is verified against the run's manifest.
    """
    return Run.load(path)


def compare(
    runs: Sequence[str | Path], *, data: str | Path | None = None, against: str | Path = ""
) -> Comparison:
    """Score several runs on the test data that they share, or on further data, with paired tests against the
    first.

    Args:
        runs: Folders or names of finished runs of the same task.
        data: Further data to score on; the shared test part when left out.
        against: The run to compare with, where that is not the first.
    """
    return compare_runs(runs, data=data, against=str(against))

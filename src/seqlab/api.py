"""The main functions for Python users: train, load, compare, find_learning_rate."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqlab.cli.announcement import announce, show_note, show_stage
from seqlab.cli.console import say
from seqlab.cli.python_progress import check_callbacks, python_progress
from seqlab.cli.train import show_curve
from seqlab.core.as_python import as_python
from seqlab.core.errors import SeqlabWarning, UsageError
from seqlab.core.notify import ignore
from seqlab.recipes.recipe import Recipe
from seqlab.runs.compare.compare import Comparison, compare_runs
from seqlab.runs.compare.comparison_page import without_comparisons
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.find_learning_rate import find_learning_rate as test_learning_rates
from seqlab.runs.train.learning_rate_search import LearningRateSearch
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import Interrupted
from seqlab.runs.train.start import train as train_prepared
from seqlab.sources.tables import save_splits
from seqlab.training.base import Callback
from seqlab.training.callbacks.callback_list import CallbackList
from seqlab.training.range_test import HIGHEST, LOWEST, UPDATES


def train(
    data: Any,
    *assignments: str,
    task: str = "",
    model: str | Mapping[str, Any] = "",
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

    Leaks between splits, skipped rows and a baseline that is not beaten are reported through Python's `warnings`
    as `seqlab.errors.SeqlabWarning`, even with `verbose=False`.

    Args:
        data: A file, a folder, a built-in dataset or a recipe; or a table in memory: rows as dicts or tuples, a
            dict of columns, a pandas or polars DataFrame, an Arrow table or a Hugging Face dataset; or a dict of
            splits (``{"train": …, "valid": …, "test": …}``) of any of these.
        assignments: Other settings, written as on the command line: ``"training.clip_norm=0.5"``.
        task: The task, such as ``"classification"``; inferred from the data by default.
        model: The model, such as ``"lstm"`` or ``"transformer"``, or its settings as a dict
            (``{"kind": "recurrent", "cell": "gru", "layers": 2}``); chosen to suit the data by default.
        minutes: Time budget of the whole call: reading, training, scoring and the report.
        steps: Number of updates.
        epochs: Number of passes over the training data.
        seed: Random seed of the split, the initial weights, the order of the data and dropout.
        out: The run folder; in ``runs/`` by default.
        start: A finished run to fine-tune: training starts from its vocabulary, network and weights.
        callbacks: Objects whose methods are called after every update and every validation.
        verbose: Whether to print inferred settings and progress to standard error.
        settings: Settings by name if the name is unique (``learning_rate=1e-3``, ``text="review"``), by
            dotted name (``**{"model.dropout": 0.3}``), or by section (``training={"steps": 500}``).

    Returns:
        The finished run, with `results`, `predict`, `evaluate` and more.
    """
    check_callbacks(callbacks)
    budget = {"training.minutes": minutes, "training.steps": steps, "training.epochs": epochs}
    values = {setting: value for setting, value in budget.items() if value} | settings
    recipe, run_name = _read_recipe(
        data, assignments, task=task, model=model, seed=seed, start=start, values=values
    )
    on_stage, on_note = (show_stage, _show_note) if verbose else (ignore, ignore)
    prepared = prepare(recipe, out=str(out), name=run_name, on_stage=on_stage, on_note=on_note)
    if verbose:
        announce(replace(prepared, warnings=[]), show=_show_note)
    _warn(prepared.warnings)
    run = _train(prepared, callbacks, verbose=verbose)
    _warn([warning for warning in run.results.raw["warnings"] if warning not in prepared.warnings])
    if verbose:
        show_curve(run, show=lambda advice: say(as_python(advice)))
    return run


def find_learning_rate(
    data: Any,
    *assignments: str,
    task: str = "",
    model: str | Mapping[str, Any] = "",
    low: float = LOWEST,
    high: float = HIGHEST,
    steps: int = UPDATES,
    seed: int | None = None,
    start: str | Path = "",
    verbose: bool = True,
    **settings: Any,
) -> LearningRateSearch:
    """Suggest a learning rate from a range test: a short training in which the rate grows until the loss diverges.

    A copy of the network is trained, and no run folder is made. ``train(…, learning_rate="auto")`` runs the same test
    and trains with its suggestion.

    Args:
        data: As for `train`.
        assignments: As for `train`.
        task: As for `train`.
        model: As for `train`.
        low: The lowest learning rate.
        high: The highest learning rate.
        steps: The number of updates.
        seed: As for `train`.
        start: As for `train`.
        verbose: As for `train`.
        settings: As for `train`.

    Returns:
        The curve with its `suggestion`, `limit`, `steepest`, `table()` and `save(path)`.
    """
    recipe, _ = _read_recipe(
        data, assignments, task=task, model=model, seed=seed, start=start, values=settings
    )
    on_stage, on_note = (show_stage, _show_note) if verbose else (ignore, ignore)
    with python_progress(verbose=verbose) as progress:
        return test_learning_rates(
            recipe, low=low, high=high, steps=steps, callback=progress, on_stage=on_stage, on_note=on_note
        )


def _read_recipe(
    data: Any,
    assignments: Sequence[str],
    *,
    task: str,
    model: str | Mapping[str, Any],
    seed: int | None,
    start: str | Path,
    values: Mapping[str, Any],
) -> tuple[Recipe, str]:
    """The recipe for data of any kind, and a name for its run."""
    name, model_settings = _model_settings(model)
    parts = save_splits(data)
    values = (
        dict(values)
        | ({} if seed is None else {"training.seed": seed})
        | model_settings
        | {f"data.{split}": path for split, path in parts.items() if split != "train"}
    )
    return find_recipe(
        parts["train"], list(assignments), task=task, model=name, start=str(start), values=values
    )


def _train(prepared: Prepared, callbacks: Sequence[Callback], *, verbose: bool) -> Run:
    """Train with a progress display; the exception of an interrupt says how to resume."""
    try:
        with python_progress(verbose=verbose) as progress:
            return train_prepared(
                prepared,
                callback=CallbackList([progress, *callbacks]),
                on_stage=show_stage if verbose else ignore,
            )
    except Interrupted as stopped:
        raise KeyboardInterrupt(
            f"stopped and saved after step {stopped.step:,}; resume with: seqlab train --resume {stopped.folder}"
        ) from None


def _model_settings(model: Any) -> tuple[str, dict[str, Any]]:
    """A model's short name, or its settings as a dict."""
    if isinstance(model, Mapping):
        return "", {"model": dict(model)}
    if not isinstance(model, str):
        raise UsageError(
            f"expected the name of a model or a dict of model settings, found {type(model).__name__}.",
            where="model=",
            cure=(
                'For example model="lstm" or model={"kind": "transformer", "layers": 2}. To train a PyTorch model'
                " of your own, use seqlab.Trainer; to train your own cell in seqlab's models, register it with"
                " seqlab.register (docs/guides/extend.md)."
            ),
        )
    return model, {}


def _show_note(sentence: str) -> None:
    show_note(as_python(sentence))


def _warn(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        warnings.warn(as_python(sentence), SeqlabWarning, stacklevel=3)


def load(path: str | Path) -> Run:
    """Load a finished run from its folder, or by its name in ``runs/``.

    Every file is checked against the run's manifest.
    """
    return Run.load(path)


def compare(
    runs: Sequence[str | Path], *, data: str | Path | None = None, against: str | Path = ""
) -> Comparison:
    """Score several runs on the same data, with paired tests against one of them.

    Args:
        runs: Folders or names of finished runs of the same task. Folders of earlier comparisons are skipped, so that
            ``Path("runs").iterdir()`` works.
        data: Data to score on; the test split that the runs share by default.
        against: The run to compare the others with; the first by default.
    """
    return compare_runs(without_comparisons(runs), data=data, against=str(against))

"""seqlab compare: several runs, or several models, on the same data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.comparison_output import show_comparison
from seqlab.cli.console import answer, answer_json, quoted, suggest
from seqlab.cli.options import AsJson, Quiet, TaskName
from seqlab.cli.seeds import announced, checked, name_of, silent, stopped_at
from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.runs.compare.compare import Comparison

EXAMPLES = """\b
Examples:
  seqlab compare runs/reviews-lstm runs/reviews-cnn
  seqlab compare runs/reviews-lstm runs/reviews-cnn --data new-reviews.csv
  seqlab compare runs/* --against reviews-lstm
  seqlab compare reviews.csv --models lstm,cnn,transformer --minutes 3
  seqlab compare languages --models lstm,gru training.steps=500 --seeds 3
"""


def compare(
    what: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="Two or more runs; with --models: DATA [KEY=VALUE]... instead."),
    ],
    models: Annotated[
        str,
        typer.Option(metavar="NAME,NAME", help="Train these models on DATA and compare them: lstm,cnn"),
    ] = "",
    against: Annotated[
        str, typer.Option(metavar="NAME", help="Reference for all comparisons; the first by default.")
    ] = "",
    data: Annotated[
        str,
        typer.Option(metavar="FILE", help="Score all runs on this data instead of their shared test split."),
    ] = "",
    minutes: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="Time budget of each training, in minutes.", show_default=False),
    ] = 0,
    seeds: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Train each model with this many seeds.")
    ] = 1,
    task: TaskName = "",
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Folder for the comparison page and any trained runs.")
    ] = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare runs, or train and compare models, with paired tests.

    All are scored on the same test rows. With --models, each model is trained with the same data and budget.
    """
    _check_options(models=models, data=data, trains=bool(minutes or seeds > 1 or task))
    if models:
        folder, comparison = _train_and_compare(
            what[0],
            models.split(","),
            what[1:],
            minutes=minutes,
            seeds=seeds,
            task=task,
            against=against,
            out=out,
            quiet=quiet,
        )
    else:
        from seqlab.runs.compare.compare import compare_runs
        from seqlab.runs.compare.comparison_page import without_comparisons

        comparison = compare_runs(without_comparisons(what), data=data or None, against=against)
        folder = Path(out) if out else Path("runs") / "compared"
    command = _command(
        what,
        {
            "models": models,
            "data": data,
            "minutes": f"{minutes:g}" if minutes else "",
            "seeds": str(seeds) if seeds > 1 else "",
            "task": task,
            "against": against,
        },
    )
    return _show(comparison, folder, command=command, as_json=as_json)


def _show(comparison: Comparison, folder: Path, *, command: str, as_json: bool) -> None:
    """Write the page and print the comparison."""
    from seqlab.runs.compare.comparison_page import write_comparison

    page = write_comparison(comparison, folder, command=command)
    if as_json:
        return answer_json({"page": str(page), **comparison.as_json()})
    show_comparison(comparison)
    answer(f"page: {page}")
    return suggest([f"seqlab evaluate {quoted(comparison.reference.runs[0].folder)}"])


def _check_options(*, models: str, data: str, trains: bool) -> None:
    if models and data:
        raise UsageError(
            "--data applies to finished runs, not to --models.",
            cure="Leave out --data: models are compared on the test split of the data they are trained on.",
        )
    if trains and not models:
        raise UsageError(
            "--minutes, --seeds and --task apply only to models that are trained here.",
            cure="Add --models lstm,cnn to train them, or leave these options out.",
        )


def _train_and_compare(
    what: str,
    models: list[str],
    settings: list[str],
    *,
    minutes: float,
    seeds: int,
    task: str,
    against: str,
    out: str,
    quiet: bool,
) -> tuple[Path, Comparison]:
    values = {"training.minutes": minutes} if minutes else {}
    _check_models(what, models, settings, values=values, task=task)
    recipes = [
        checked(what, settings, values=values, task=task, model=model) for model in models
    ]  # report every mistake before the first training
    from seqlab.cli.progress import watch_training
    from seqlab.runs.compare.model_comparison import compare_models
    from seqlab.runs.train.start import Interrupted

    folder = Path(out) if out else Path("runs") / f"{name_of(recipes[0][0], '')}-compared"
    begin = silent if quiet else announced
    try:
        return folder, compare_models(
            what,
            models,
            settings,
            seeds=seeds,
            folder=folder,
            values=values,
            task=task,
            against=against,
            watch=lambda: watch_training(quiet=quiet),
            begin=begin,
        )
    except Interrupted as stopped:
        stopped_at(stopped.folder, stopped.step)


def _check_models(
    what: str, models: list[str], settings: list[str], *, values: Mapping[str, Any], task: str
) -> None:
    """Report all unknown models at once, with other mistakes that do not depend on the model."""
    from seqlab.models.aliases import MODEL_ALIASES
    from seqlab.recipes.overrides import unknown_model
    from seqlab.runs.find_recipe import find_recipe

    errors = [unknown_model(name, option="--models") for name in models if name not in MODEL_ALIASES]
    if errors:
        others = [setting for setting in settings if not setting.startswith("model.")]
        mistakes = [f"{error.where}: {error.what} {error.cure}" for error in errors]
        find_recipe(what, others, task=task, values=values, mistakes=mistakes)


def _command(what: list[str], options: dict[str, str]) -> str:
    """
    >>> _command(["my data.csv"], {"models": "lstm,cnn", "data": "", "task": "tagging"})
    "seqlab compare 'my data.csv' --models lstm,cnn --task tagging"
    """
    return " ".join(
        [
            "seqlab compare",
            *map(quoted, what),
            *(f"--{name} {quoted(value)}" for name, value in options.items() if value),
        ]
    )

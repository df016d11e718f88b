"""seqlab compare: several runs, or several models, on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.compared import show_comparison
from seqlab.cli.console import answer, answer_json, quoted, suggest
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
        typer.Argument(
            metavar="RUN RUN … | WHAT [KEY=VALUE …]", help="Runs; or, with --models, data and settings."
        ),
    ],
    models: Annotated[
        str, typer.Option(help="Train and compare these models: lstm,cnn,transformer", metavar="NAME,NAME")
    ] = "",
    against: Annotated[
        str, typer.Option(help="Compare the others with this one; the first when left out.", metavar="NAME")
    ] = "",
    data: Annotated[
        str,
        typer.Option(
            help="Score all runs on this data instead of the test part that they share.", metavar="FILE"
        ),
    ] = "",
    minutes: Annotated[
        float, typer.Option(help="Time budget of each training in minutes.", show_default=False)
    ] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Train every model with this many seeds.")] = 1,
    task: Annotated[
        str, typer.Option(help="The job of the models, see: seqlab list tasks; guessed when left out.")
    ] = "",
    out: Annotated[str, typer.Option(help="Folder of the page, and of the runs that are trained.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Compare runs on the same data, or train several models on the same budget; paired tests tell difference
    from chance.
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
        from seqlab.runs.compare.comparison_page import is_comparison

        runs = [name for name in what if not is_comparison(Path(name))]
        comparison = compare_runs(runs, data=data or None, against=against)
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
            "--data is for finished runs.",
            cure="Models are compared on the test part of the data that they are trained on.",
        )
    if trains and not models:
        raise UsageError(
            "--minutes, --seeds and --task are for models that are still to be trained.",
            cure="Name them: --models lstm,cnn",
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
    recipes = [
        checked(what, settings, values=values, task=task, model=model) for model in models
    ]  # all mistakes show before the first training
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

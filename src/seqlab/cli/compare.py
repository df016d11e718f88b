"""seqlab compare: several runs, or several models, on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, quoted, say, suggest
from seqlab.cli.seeds import announced, checked, name_of, silent, stopped_at
from seqlab.core.errors import UsageError, shortened
from seqlab.tasks.excerpt import one_line

if TYPE_CHECKING:
    from seqlab.runs.compare.by_length import ByLength
    from seqlab.runs.compare.compare import Comparison

EXAMPLES = """\b
Examples:
  seqlab compare runs/reviews-lstm runs/reviews-cnn
  seqlab compare runs/reviews-lstm runs/reviews-cnn --data new-reviews.csv
  seqlab compare runs/* --against reviews-lstm
  seqlab compare reviews.csv --models lstm,cnn,transformer --minutes 3
  seqlab compare languages --models lstm,gru training.steps=500 --seeds 3
"""
MOST_DISAGREEMENTS = 3


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
    if models and data:
        raise UsageError(
            "--data is for finished runs.",
            cure="Models are compared on the test part of the data that they are trained on.",
        )
    if not models and (minutes or seeds > 1 or task):
        raise UsageError(
            "--minutes, --seeds and --task are for models that are still to be trained.",
            cure="Name them: --models lstm,cnn",
        )
    if models:
        folder, comparison = _contest(
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

        comparison = compare_runs(what, data=data or None, against=against)
        folder = Path(out) if out else Path("runs") / "compared"
    from seqlab.runs.compare.comparison_page import write_comparison

    options = {
        "models": models,
        "data": data,
        "minutes": f"{minutes:g}" if minutes else "",
        "seeds": str(seeds) if seeds > 1 else "",
        "task": task,
    }
    page = write_comparison(comparison, folder, command=_command(what, {**options, "against": against}))
    if as_json:
        return answer_json({"page": str(page), **comparison.as_json()})
    _show(comparison)
    answer(f"page: {page}")
    return suggest([f"seqlab evaluate {quoted(comparison.reference.runs[0].folder)}"])


def _contest(
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
    from seqlab.cli.progress import TerminalProgress
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
            watch=lambda: TerminalProgress(quiet=quiet),
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


def _show(comparison: Comparison) -> None:
    from seqlab.runs.compare.comparison_page import table

    rows = table(comparison)
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    for line in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        answer("  ".join(f"{line[name]:<{width}}" for name, width in widths.items()).rstrip())
    for warning in comparison.warnings:
        say(f"WARNING: {warning}")
    for score, differences in comparison.differences.items():
        for name, difference in differences.items():
            answer(f"{score}: {difference.describe(name, comparison.reference.name)}")
    if comparison.by_length:
        _show_lengths(comparison.by_length)
    for name, counts in comparison.mcnemars.items():
        answer(
            f"{name} alone is right about {counts.only_second:,} examples, {comparison.reference.name} alone"
            f" about {counts.only_first:,}, both about {counts.both:,}, neither about {counts.neither:,};"
            f" McNemar's p = {counts.p:.2g}"
        )
    if comparison.num_disagreements:
        answer(
            f"they disagree about {comparison.num_disagreements:,} of"
            f" {len(comparison.reference.first.answers):,}; the page shows some:"
        )
    for example in comparison.disagreements[:MOST_DISAGREEMENTS]:
        predictions = ", ".join(
            f"{name}: {shortened(prediction, 60)}" for name, prediction in example.answers.items()
        )
        answer(f"    {example.where}  truth {shortened(example.truth, 60)}; {predictions}")
        answer(f"        {shortened(one_line(example.text), 120)}")


def _show_lengths(by_length: ByLength) -> None:
    """A line for each part: where models drift apart, and whether with longer sources."""
    from seqlab.runs.compare.comparison_page import shown_part

    answer(f"{by_length.score.replace('_', ' ')} by {by_length.unit} in the source:")
    for place, first in enumerate(next(iter(by_length.parts.values()))):
        scores = "  ".join(f"{name} {shown_part(parts[place])}" for name, parts in by_length.parts.items())
        answer(f"    {first.name:>9}  {scores}  ({first.count:,} rows)")

"""seqlab reproduce: train a run again from its own recipe, and compare."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seqlab.cli.announcement import show_stage
from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, suggest
from seqlab.cli.train import moved_data, watch
from seqlab.core.errors import SeqlabError, UsageError
from seqlab.core.notify import ignore

EXAMPLES = """\b
Examples:
  seqlab reproduce runs/reviews-lstm
  seqlab reproduce runs/reviews-lstm data.train=new/reviews.csv     the data was moved
Exit code 0: the same within rounding. 2: it differs, or cannot be repeated.
"""


def reproduce(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="data.train=FILE", help="Where data that was moved is now.")
    ] = None,
    out: Annotated[str, typer.Option(help="Folder of the repetition; runs/NAME-again when left out.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Train a run again (same data, seed, threads and steps) and compare weights, losses and scores."""
    moved = moved_data(settings or [])
    if len(moved) < len(settings or []):
        raise UsageError(
            f"{' '.join(settings or [])!r}: a repetition has the settings of the run.",
            cure=f"Only the place of data can change: seqlab reproduce {quoted(run)} data.train=FILE",
        )
    from seqlab.runs.reproduce import reproduce as work

    on_stage = ignore if quiet else show_stage
    report = watch(
        lambda callback: work.reproduce(run, out=out, data=moved, callback=callback, on_stage=on_stage),
        quiet=quiet,
    )
    if as_json:
        answer_json(report.to_json())
    else:
        for line in report.lines():
            answer_sentences(line)
        answer(f"repetition: {report.run.folder}")
        suggest([f"seqlab compare {quoted(report.original)} {quoted(report.run.folder)}"])
    if not report.agrees:
        sys.exit(SeqlabError.exit_code)

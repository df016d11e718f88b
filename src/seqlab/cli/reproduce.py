"""seqlab reproduce: retrain a run from its own recipe and compare."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seqlab.cli.announcement import show_stage
from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, suggest
from seqlab.cli.options import AsJson, Quiet, RunName
from seqlab.cli.train import moved_data, watch
from seqlab.core.errors import SeqlabError, UsageError, listed
from seqlab.core.notify import ignore

EXAMPLES = """\b
Examples:
  seqlab reproduce runs/reviews-lstm
  seqlab reproduce runs/reviews-lstm data.train=new/reviews.csv   (moved data)
  seqlab reproduce runs/reviews-lstm start.run=archive/read       (moved run)

Exit code 0 if the results match within rounding; 2 if they differ or the run cannot be repeated.
"""


def reproduce(
    run: RunName,
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="data.train=FILE",
            help="New path of data that has moved; also start.run, start.vectors, distillation.run.",
        ),
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Folder of the new run; runs/NAME-again by default.")
    ] = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Retrain a run and compare weights, losses and scores.

    The repetition has the same data, seed, number of threads and steps as the run.
    """
    from seqlab.runs.reproduce.sources import SOURCES

    data = moved_data(settings or [])
    sources = _moved_sources(settings or [])
    if len(data) + len(sources) < len(settings or []):
        raise UsageError(
            f"{' '.join(settings or [])!r}: a repetition uses the settings of the run.",
            cure=(
                f"Only paths can change: seqlab reproduce {quoted(run)} data.train=FILE, and likewise"
                f" {listed(SOURCES)}"
            ),
        )
    from seqlab.runs.reproduce import reproduce as work

    on_stage = ignore if quiet else show_stage
    report = watch(
        lambda callback: work.reproduce(
            run, out=out, data=data, sources=sources, callback=callback, on_stage=on_stage
        ),
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


def _moved_sources(arguments: list[str]) -> dict[str, str]:
    """
    >>> _moved_sources(["start.run=old/read", "data.train=a.csv"])
    {'start.run': 'old/read'}
    """
    from seqlab.runs.reproduce.sources import SOURCES

    pairs = [word.partition("=") for word in arguments]
    return {name: value for name, _, value in pairs if name in SOURCES and value}

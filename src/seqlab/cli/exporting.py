"""seqlab export: write a run in a format of other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json, suggest
from seqlab.cli.options import AsJson, RunName
from seqlab.core.errors import UsageError

EXAMPLES = """\b
Examples:
  seqlab export runs/reviews-lstm --to word2vec --out reviews.vec
  seqlab export runs/reviews-lstm --to glove --out reviews.txt.gz
"""


def export_run(
    run: RunName,
    to: Annotated[
        str,
        typer.Option(
            "--to", help="Output format: word2vec or glove (word vectors as text).", metavar="FORMAT"
        ),
    ] = "",
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Output file, named after the run by default; NAME.gz is compressed."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Export the word vectors of a run for other programs."""
    from seqlab.core.errors import listed, nearest
    from seqlab.core.registry import Registry

    names = Registry[object](
        "format", package="seqlab.interop"
    ).names()  # read from the source files, without importing torch
    if to not in names:
        cure = (
            nearest(to, names) if to else f"Run: seqlab export {run} --to FORMAT. Available: {listed(names)}."
        )
        raise UsageError(
            f"there is no format called '{to}'." if to else "the output format is missing.",
            where="--to",
            cure=cure,
        )
    from seqlab.interop.export_run import export_to_format
    from seqlab.runs.run import Run

    done = export_to_format(Run.load(run), to, out)
    if as_json:
        return answer_json(
            {"run": run, "format": to, "path": str(done.path), **done.details, "next": done.next_commands}
        )
    answer(f"{done.path}: {done.summary}")
    return suggest(done.next_commands)

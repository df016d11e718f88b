"""seqlab export: a run for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json, suggest
from seqlab.core.errors import UsageError

EXAMPLES = """\b
Examples:
  seqlab export runs/reviews-lstm --to word2vec --out reviews.vec
  seqlab export runs/reviews-lstm --to glove --out reviews.txt.gz
"""


def export_run(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.", metavar="RUN")],
    to: Annotated[
        str,
        typer.Option("--to", help="The format: word2vec or glove (word vectors as text).", metavar="FORMAT"),
    ] = "",
    out: Annotated[
        str, typer.Option(help="The file; named after the run when left out. NAME.gz is packed.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Write a run in a format that other programs read."""
    from seqlab.core.errors import listed, nearest
    from seqlab.core.registry import Registry

    names = Registry[object](
        "format", package="seqlab.interop"
    ).names()  # read from the files: nothing waits for torch
    if to not in names:
        cure = nearest(to, names) if to else f"seqlab export {run} --to FORMAT. Available: {listed(names)}."
        raise UsageError(
            f"there is no format called '{to}'." if to else "no format is named.", where="--to", cure=cure
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

"""The command `seqlab`: verbs, and one place where mistakes become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from seqlab.cli import (
    compare,
    data,
    evaluate,
    explain,
    exporting,
    gain,
    generate,
    importing,
    listing,
    predict,
    study,
    train,
    words,
)
from seqlab.cli.outcome import reported

SHORT_WAIT = "1000"
"""How long threads spin while they wait for each other.

As fast as spinning on when the cores are free; but when another program takes a core, threads that spin on
slow each other down many times over (docs/benchmarks.md).
"""

FIRST_STEPS = """\b
First steps:
  seqlab train FILE           train on a CSV, TSV, JSONL, text file or folder
  seqlab train languages      or on a built-in dataset (seqlab list datasets)
  seqlab explain training     what every setting means
"""


class Verbs(TyperGroup):
    """Whatever stops a verb is told here, before typer makes something else of it."""

    def invoke(self, ctx: Any) -> Any:
        with reported(debug=bool(ctx.obj)):
            return super().invoke(ctx)


app = typer.Typer(
    name="seqlab",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "Train, compare, look inside and serve sequence models, from the plain RNN to the Transformer, on"
        " your own data."
    ),
    epilog=FIRST_STEPS,
)
app.command("train", epilog=train.EXAMPLES)(train.train)
app.command("data", epilog=data.EXAMPLES)(data.data)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("compare", epilog=compare.EXAMPLES)(compare.compare)
app.command("gain", epilog=gain.EXAMPLES)(gain.gain)
app.command("predict", epilog=predict.EXAMPLES)(predict.predict)
app.command("generate", epilog=generate.EXAMPLES)(generate.generate)
app.command("import", epilog=importing.EXAMPLES)(importing.import_model)
app.command("export", epilog=exporting.EXAMPLES)(exporting.export_run)
app.command("words", epilog=words.EXAMPLES)(words.words)
app.command("study", epilog=study.EXAMPLES)(study.study)
app.command("list")(listing.list_choices)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"seqlab {version('seqlab')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
    debug: bool = typer.Option(
        False, "--debug", help="Show the full traceback of a mistake; may stand anywhere."
    ),
) -> None:
    """Options that every verb understands."""


def main(words: Sequence[str] | None = None) -> None:
    """Run a verb and exit; without one, show the help."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character shows its code
            stream.reconfigure(errors="backslashreplace")
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # before torch is imported
    words, debug = _without_debug(list(sys.argv[1:] if words is None else words))
    app(args=words or ["--help"], prog_name="seqlab", obj=debug)


def _without_debug(words: list[str]) -> tuple[list[str], bool]:
    """`--debug` may stand before or after the verb, but what follows `--` is data."""
    end = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:end] if word != "--debug"]
    return before + words[end:], len(before) < end


if __name__ == "__main__":
    main()

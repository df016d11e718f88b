"""The command `seqlab`: verbs, and one place where mistakes become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

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
    reproduce,
    schema,
    study,
    train,
    words,
)
from seqlab.cli.outcome import reported
from seqlab.cli.streams import explain_lost_answer, messages, require_output, usable_streams
from seqlab.cli.unfinished import with_run_to_resume
from seqlab.core.errors import UsageError, nearest

PROGRESS = ("auto", "json")
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


@dataclass
class CommonOptions:
    """What every command understands, wherever it stands on the command line."""

    debug: bool = False
    plugins: list[str] = field(default_factory=list)
    progress: str = "auto"


def _load_plugins(paths: list[str]) -> None:
    if paths:
        from seqlab.core.plugins import load_plugin_file

        for path in paths:
            load_plugin_file(Path(path))


class Verbs(TyperGroup):
    """Whatever stops a verb is told here, before typer makes something else of it."""

    def invoke(self, ctx: Any) -> Any:
        common = ctx.obj or CommonOptions()
        with reported(debug=common.debug):
            _load_plugins(common.plugins)
            return super().invoke(ctx)


app = typer.Typer(
    name="seqlab",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "Train, compare and inspect sequence models, from the plain RNN to the Transformer, on your own data."
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
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command("import", epilog=importing.EXAMPLES)(importing.import_model)
app.command("export", epilog=exporting.EXAMPLES)(exporting.export_run)
app.command("words", epilog=words.EXAMPLES)(words.words)
app.command("study", epilog=study.EXAMPLES)(study.study)
app.command("list")(listing.list_choices)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("schema", epilog=schema.EXAMPLES)(schema.schema)


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
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Load parts of your own from a Python file; may stand anywhere, more than once.",
        ),
    ] = None,
    progress: str = typer.Option(
        "auto",
        metavar="auto|json",
        help="json: progress and messages on standard error as JSON lines; may stand anywhere.",
    ),
) -> None:
    """Options that every verb understands."""


def main(words: Sequence[str] | None = None) -> None:
    """Run a verb and exit; without one, show the help."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character shows its code
            stream.reconfigure(errors="backslashreplace")
    if "_SEQLAB_COMPLETE" in os.environ:
        from seqlab.cli.completion.respond import respond

        with reported(debug=False):
            respond(app)
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # before torch is imported
    words, common = _common_options(list(sys.argv[1:] if words is None else words))
    with usable_streams(), reported(debug=common.debug):
        _choose_progress(common.progress)
        require_output()
        with explain_lost_answer():  # typer writes help and version itself
            app(args=with_run_to_resume(words) or ["--help"], prog_name="seqlab", obj=common)


def _choose_progress(form: str) -> None:
    """Lines for people, or JSON lines for programs."""
    if form not in PROGRESS:
        raise UsageError(f"--progress {form}: expected auto or json.", cure=nearest(form, PROGRESS))
    messages.are_json = form == "json"


def _common_options(words: list[str]) -> tuple[list[str], CommonOptions]:
    """`--debug`, `--plugin FILE` and `--progress FORM` may stand before or after the verb, but what follows `--` is
    data.

    >>> _common_options(["train", "a.csv", "--plugin", "cell.py", "--plugin=score.py", "--", "--debug"])
    (['train', 'a.csv', '--', '--debug'], CommonOptions(debug=False, plugins=['cell.py', 'score.py'], progress='auto'))
    """
    end = words.index("--") if "--" in words else len(words)
    before, common, left = iter(words[:end]), CommonOptions(), []
    for word in before:
        if word == "--debug":
            common.debug = True
        elif word.startswith("--plugin="):
            common.plugins.append(word.removeprefix("--plugin="))
        elif word.startswith("--progress="):
            common.progress = word.removeprefix("--progress=")
        elif word == "--progress" and (form := next(before, None)) is not None:
            common.progress = form
        elif word == "--plugin" and (path := next(before, None)) is not None:
            common.plugins.append(path)
        else:
            left.append(word)
    return left + words[end:], common


if __name__ == "__main__":
    main()

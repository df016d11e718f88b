"""The command `seqlab`: its subcommands, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
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
    lr,
    predict,
    reproduce,
    schema,
    study,
    train,
    words,
)
from seqlab.cli.command import Command
from seqlab.cli.exit_codes import report_errors
from seqlab.cli.streams import explain_lost_answer, messages, require_output, usable_streams
from seqlab.cli.unfinished import with_run_to_resume
from seqlab.cli.usage_errors import unknown_command
from seqlab.cli.warning_lines import warnings_as_lines
from seqlab.core.errors import UsageError, nearest

PROGRESS = ("auto", "json")
SHORT_WAIT = "1000"
"""How long OpenMP threads spin while they wait for each other.

On idle cores this is as fast as the default; when another program uses a core, spinning threads slow each other
down many times over (docs/benchmarks.md).
"""

FIRST_STEPS = """\b
First steps:
  seqlab train FILE         train on your own file or folder
  seqlab train languages    train on a built-in dataset (seqlab list datasets)
  seqlab explain training   show the training settings
"""


@dataclass
class CommonOptions:
    """Options of every command, before or after its name."""

    debug: bool = False
    plugins: list[str] = field(default_factory=list)
    progress: str = "auto"


def _load_plugins(paths: list[str]) -> None:
    if paths:
        from seqlab.core.plugins import load_plugin_file

        for path in paths:
            load_plugin_file(Path(path))


class CommandGroup(TyperGroup):
    """Reports errors itself, before typer handles them."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with report_errors(debug=False), explain_lost_answer():  # --help is written here
            return super().make_context(*arguments, **options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None:
            raise unknown_command(args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        common = ctx.obj or CommonOptions()
        with report_errors(debug=common.debug):
            _load_plugins(common.plugins)
            return super().invoke(ctx)


app = typer.Typer(
    name="seqlab",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Train, compare and use sequence models on your own data, from plain RNNs to Transformers.",
    epilog=FIRST_STEPS,
)
VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "train": (train.train, train.EXAMPLES),
    "data": (data.data, data.EXAMPLES),
    "lr": (lr.lr, lr.EXAMPLES),
    "evaluate": (evaluate.evaluate, evaluate.EXAMPLES),
    "compare": (compare.compare, compare.EXAMPLES),
    "gain": (gain.gain, gain.EXAMPLES),
    "predict": (predict.predict, predict.EXAMPLES),
    "generate": (generate.generate, generate.EXAMPLES),
    "reproduce": (reproduce.reproduce, reproduce.EXAMPLES),
    "import": (importing.import_model, importing.EXAMPLES),
    "export": (exporting.export_run, exporting.EXAMPLES),
    "words": (words.words, words.EXAMPLES),
    "study": (study.study, study.EXAMPLES),
    "list": (listing.list_choices, listing.EXAMPLES),
    "explain": (explain.explain, explain.EXAMPLES),
    "schema": (schema.schema, schema.EXAMPLES),
}
for name, (function, examples) in VERBS.items():
    app.command(name, cls=Command, epilog=examples)(function)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"seqlab {version('seqlab')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the full traceback of an error."),
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Load your own cells, tokenizers, metrics or other parts from a Python file; repeatable.",
        ),
    ] = None,
    progress: str = typer.Option(
        "auto",
        metavar="auto|json",
        help="Progress on standard error: for people, or as JSON lines for programs.",
    ),
) -> None:
    """Options of every command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit; without one, show the help."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # show the code of a character that cannot be encoded
            stream.reconfigure(errors="backslashreplace")
    if "_SEQLAB_COMPLETE" in os.environ:
        from seqlab.cli.completion.respond import respond

        with report_errors(debug=False):
            respond(app)
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # before torch is imported
    arguments, common = _common_options(list(sys.argv[1:] if arguments is None else arguments))
    with usable_streams(), warnings_as_lines(), report_errors(debug=common.debug):
        _choose_progress(common.progress)
        require_output()
        with explain_lost_answer():  # typer writes help and version itself
            app(args=with_run_to_resume(arguments) or ["--help"], prog_name="seqlab", obj=common)


def _choose_progress(form: str) -> None:
    """Choose lines for people or JSON lines for programs."""
    if form not in PROGRESS:
        raise UsageError(f"--progress {form}: expected auto or json.", cure=nearest(form, PROGRESS))
    messages.are_json = form == "json"


def _common_options(arguments: list[str]) -> tuple[list[str], CommonOptions]:
    """`--debug`, `--plugin FILE` and `--progress FORM` work before and after the command; arguments after `--` are
    data.

    >>> _common_options(["train", "a.csv", "--plugin", "cell.py", "--plugin=score.py", "--", "--debug"])
    (['train', 'a.csv', '--', '--debug'], CommonOptions(debug=False, plugins=['cell.py', 'score.py'], progress='auto'))
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before, common, left = iter(arguments[:end]), CommonOptions(), []
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
    return left + arguments[end:], common


if __name__ == "__main__":
    main()

"""The command `seqlab`: verbs, and one place where mistakes become messages and exit codes."""

from __future__ import annotations

import os
import sys

import typer

from seqlab.cli import data, evaluate, explain, generate, listing, predict, train
from seqlab.cli.console import complain, say
from seqlab.core.errors import SeqlabError

app = typer.Typer(
    name="seqlab",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train, compare, look inside and serve sequence models, from the plain RNN to the Transformer, on your own data.",
    epilog="First steps:  seqlab train FILE    seqlab list datasets    seqlab explain training",
)
app.command("train")(train.train)
app.command("data")(data.data)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("generate")(generate.generate)
app.command("list")(listing.list_choices)
app.command("explain")(explain.explain)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"seqlab {version('seqlab')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the full traceback of a mistake."),
) -> None:
    """Options that every verb understands."""


def main() -> None:
    """Run a verb; turn the user's mistakes into words and exit codes."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        app()
    except SeqlabError as error:
        if debug:
            raise
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()

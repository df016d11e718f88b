"""Answers the shell, which asks through environment variables (typer's protocol)."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout

import typer

from seqlab.cli.completion.attach import attach_completers
from seqlab.cli.console import answer
from seqlab.core.errors import SeqlabError

REQUEST = "_SEQLAB_COMPLETE"


def respond(app: typer.Typer) -> None:
    """Print what may follow, and exit."""
    # Typer would render every sentence with rich, which takes time and wraps lines. None in this table means:
    # not installed.
    sys.modules["rich"] = None  # type: ignore[assignment]  # see above
    _leave_out_other_commands(app)
    attach_completers(app)
    typed = _join_assignments() if os.environ[REQUEST] == "complete_bash" else ""
    printed, code = io.StringIO(), 0
    try:
        with redirect_stdout(printed):
            app(args=[], prog_name="seqlab")
    except SystemExit as ended:
        code = int(ended.code or 0)
    except SeqlabError:  # a message would land in the line that is being typed
        code = 1
    for line in printed.getvalue().splitlines():
        answer(line.removeprefix(typed))
    sys.exit(code)


def _leave_out_other_commands(app: typer.Typer) -> None:
    """Once a command is typed, the others need not be built."""
    words = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[:-1]
    app.registered_commands = [
        command for command in app.registered_commands if command.name in words
    ] or app.registered_commands


def _join_assignments() -> str:
    """Put together what bash took apart at `=`; returns the part of the last word that bash keeps as it is."""
    text, position = os.environ["COMP_WORDS"], int(os.environ["COMP_CWORD"])
    words, position = join_at_equals(text.split("\n") if "\n" in text else text.split(), position)
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(position)}
    was_split = len(words) < len(text.split("\n" if "\n" in text else None))
    name, equals, _ = words[position].rpartition("=") if position < len(words) else ("", "", "")
    return f"{name}{equals}" if was_split else ""


def join_at_equals(words: list[str], position: int) -> tuple[list[str], int]:
    """`=` breaks words in bash: `a=b` comes as three of them.

    >>> join_at_equals(["seqlab", "train", "training.optimizer", "=", "ad"], 4)
    (['seqlab', 'train', 'training.optimizer=ad'], 2)
    >>> join_at_equals(["seqlab", "train", "training.optimizer", "="], 3)
    (['seqlab', 'train', 'training.optimizer='], 2)
    >>> join_at_equals(["seqlab", "data.text", "=", "a", "training.st"], 4)
    (['seqlab', 'data.text=a', 'training.st'], 2)
    """
    joined: list[str] = []
    place = position
    for number, word in enumerate(words):
        continues = word == "=" or (number > 0 and words[number - 1] == "=" and word)
        if joined and continues:
            joined[-1] += word
            place -= number <= position
        else:
            joined.append(word)
    return joined, place

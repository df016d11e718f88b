"""The standard streams of a command, any of which may be closed, full or unreadable.

An answer that cannot be written ends the command with exit code 3. Messages that cannot be written do not stop the
command, but its exit code is 3 instead of 0, since a warning may have been lost. A reader that closes the pipe early,
as `head` does, is not an error.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from seqlab.core.errors import EnvironmentProblem

WARNING = "WARNING: "
STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2
REDIRECT = "Redirect it to a file on a disk with free space (> FILE), or pipe it to a program (| less)."


class Messages:
    """Standard error, if it can be written to."""

    def __init__(self) -> None:
        self.are_lost = False
        self.are_json = False
        """Whether every line is a JSON object, for programs (`--progress json`)."""

    def write_event(self, event: str, **facts: Any) -> None:
        """Write one JSON object on one line. JSON has no NaN and no infinity: those become null."""
        plain = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in facts.items()
        }
        self._print(json.dumps({"event": event, **plain}))

    def write(self, text: str) -> None:
        if self.are_json:
            plain = text.strip().removeprefix("… ")
            event = "warning" if plain.startswith(WARNING) else "message"
            self.write_event(event, text=plain.removeprefix(WARNING))
        else:
            self._print(text)

    def _print(self, text: str) -> None:
        try:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the one place for messages
        except BrokenPipeError:
            discard(STANDARD_ERROR)
        except OSError:
            discard(STANDARD_ERROR)
            self.are_lost = True


messages = Messages()


@contextmanager
def usable_streams() -> Iterator[None]:
    """Run a command whatever the state of its streams; the exit code reports lost output."""
    messages.are_lost = messages.are_json = False
    _replace_closed()
    try:
        yield
    except SystemExit as end:
        if messages.are_lost and not end.code:
            end.code = EnvironmentProblem.exit_code
        raise


def require_output() -> None:
    """Fail before any work if the answer would be lost."""
    if sys.stdout is None:
        raise EnvironmentProblem("standard output is closed, so the answer would be lost.", cure=REDIRECT)


def require_input() -> None:
    if sys.stdin is None:
        raise EnvironmentProblem(
            "standard input is closed, so there is no text to read.",
            cure="Pass texts as arguments, a file with --file, or pipe them in.",
        )


@contextmanager
def explain_lost_answer() -> Iterator[None]:
    """Turn an OSError raised while writing an answer into an EnvironmentProblem."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(STANDARD_OUTPUT)
        raise EnvironmentProblem(
            f"the answer cannot be written to standard output ({error.strerror}).", cure=REDIRECT
        ) from error


def discard(descriptor: int) -> None:
    """Redirect a stream to the null device: Python would fail again when it flushes at exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _replace_closed() -> None:
    """Reopen closed descriptors: otherwise the next opened file would take their number and receive their output.

    Python has no object for a stream that was closed at startup, and `print` would write messages to standard
    output.
    """
    for descriptor in (STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stderr is None:
        sys.stderr = _Closed()


class _Closed(io.TextIOBase):
    """Standard error that was already closed at startup."""

    def write(self, text: str) -> int:
        messages.are_lost = True
        return len(text)

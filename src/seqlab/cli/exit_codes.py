"""How a command ends: a message on standard error and an exit code.

0 success    1 a bug    2 an error the user can fix    3 the environment (disk, memory, port)    130 interrupted
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from seqlab.cli.console import print_error, say
from seqlab.cli.streams import STANDARD_OUTPUT, discard
from seqlab.cli.usage_errors import explain_usage
from seqlab.core.errors import EnvironmentProblem, SeqlabError

BUG, INTERRUPTED = 1, 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of writing to an open file, for which the system names no file."""


@contextmanager
def report_errors(*, debug: bool) -> Iterator[None]:
    """Turn any exception into a message and an exit code."""
    try:
        yield
    except SeqlabError as error:
        _end(error, debug=debug)
    except KeyboardInterrupt:
        say("Interrupted.")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        discard(STANDARD_OUTPUT)
        sys.exit(0)
    except Exception as error:
        if usage := explain_usage(error):
            _end(usage, debug=debug)
        if type(error).__module__.startswith("typer"):
            raise  # how typer exits
        problem = _environment(error)
        if problem is None:
            _end_with_bug()
        else:
            _end(problem, debug=debug)


def _end(error: SeqlabError, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print_error(error)
    sys.exit(error.exit_code)


def _end_with_bug() -> None:
    """Print the traceback, which a bug report needs: the failure may come after hours of training."""
    traceback.print_exc()
    say("This is a bug in seqlab, not a mistake of yours. Please report it with the traceback above.")
    sys.exit(BUG)


def _environment(error: BaseException) -> EnvironmentProblem | None:
    """The error for a problem with memory, disk or permissions; None for anything else."""
    text = str(error)
    if (
        isinstance(error, MemoryError)
        or "not enough memory" in text
        or "can't allocate memory" in text
        or "size calculation overflowed" in text
        or "out of memory" in text.lower()
    ):
        return EnvironmentProblem(
            "not enough memory.",
            cure="Try a smaller training.batch_size, model.hidden_size, language_model.window or data.max_length.",
        )
    if isinstance(error, OSError) and (error.filename is not None or error.errno in FULL):
        cure = "Check permissions and free disk space, or choose another folder with --out."
        return EnvironmentProblem(
            f"{error.strerror or 'cannot be used'}.", where=str(error.filename or ""), cure=cure
        )
    return None

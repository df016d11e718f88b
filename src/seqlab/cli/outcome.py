"""How a command ends: words on standard error and an exit code.

0 done    1 a bug    2 the user must change something    3 the environment (disk, memory, port)    130
interrupted
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from seqlab.cli.console import complain, say
from seqlab.cli.streams import STANDARD_OUTPUT, discard
from seqlab.core.errors import EnvironmentProblem, SeqlabError

BUG, INTERRUPTED = 1, 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What writing to an open file may end with; the system then names no file."""


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn whatever stops a command into words and an exit code."""
    try:
        yield
    except SeqlabError as error:
        _end(error, debug=debug)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        discard(STANDARD_OUTPUT)
        sys.exit(0)
    except Exception as error:
        if type(error).__module__.startswith("typer"):
            raise  # typer's own way to end a command, or to complain about its words
        problem = _environment(error)
        if problem is None:
            _end_with_bug()
        else:
            _end(problem, debug=debug)


def _end(error: SeqlabError, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    complain(error)
    sys.exit(error.exit_code)


def _end_with_bug() -> None:
    """The traceback is shown: it is what a report needs, and hours of training may lie before it."""
    traceback.print_exc()
    say("This is a bug in seqlab and not your mistake. Please report it with the lines above.")
    sys.exit(BUG)


def _environment(error: BaseException) -> EnvironmentProblem | None:
    """Memory, disk and permissions, which no recipe can fix; None for anything else."""
    text = str(error)
    if (
        isinstance(error, MemoryError)
        or "not enough memory" in text
        or "can't allocate memory" in text
        or "size calculation overflowed" in text
        or "out of memory" in text.lower()
    ):
        return EnvironmentProblem(
            "there is not enough memory.",
            cure="Try a smaller training.batch_size, model.hidden_size, language_model.window or data.max_length.",
        )
    if isinstance(error, OSError) and (error.filename is not None or error.errno in FULL):
        cure = "Check the permissions and the free space there, or choose another folder with --out."
        return EnvironmentProblem(
            f"{error.strerror or 'cannot be used'}.", where=str(error.filename or ""), cure=cure
        )
    return None

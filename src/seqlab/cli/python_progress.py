"""Training progress for Python callers, in a terminal or a notebook."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from seqlab.cli.live_line import LiveLine
from seqlab.cli.progress import TerminalProgress
from seqlab.core.errors import UsageError


def python_progress(*, verbose: bool) -> TerminalProgress | LiveLine:
    """A notebook can rewrite a line, although its standard error is not a terminal."""
    is_notebook = "ipykernel" in sys.modules and not sys.stderr.isatty()
    return LiveLine() if verbose and is_notebook else TerminalProgress(quiet=not verbose)


def check_callbacks(callbacks: Any) -> None:
    if not isinstance(callbacks, Sequence):
        raise UsageError(
            f"expected a list of callbacks, found {type(callbacks).__name__}.",
            where="callbacks=",
            cure="Pass a single callback as a list: callbacks=[callback]",
        )

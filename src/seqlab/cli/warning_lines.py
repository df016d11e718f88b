"""Warnings that arise while a command works, as lines on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from seqlab.cli.console import say
from seqlab.core.errors import SeqlabWarning


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show a `SeqlabWarning` without the place in the code that raised it; others stay as they are."""
    with warnings.catch_warnings():
        show_others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, SeqlabWarning):
                say(f"WARNING: {message}")
            else:
                show_others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield

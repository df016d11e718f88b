"""Wraps messages to the terminal, which would break lines inside the names of settings."""

from __future__ import annotations

import re
import textwrap
from shutil import get_terminal_size

HANGING = 4
OPTION = re.compile(r"(--[a-z][a-z-]*) (?=[A-Z0-9])")
GLUE = "\ue000"
"""Stands for a space where a line must not break; no message contains this character."""


def wrap_message(text: str, *, width: int | None = None, hanging: int = HANGING) -> str:
    """Break long lines between words and indent the continuation. Commands stay on one line, so that they can
    be pasted, and an option stays with its value.

    >>> print(wrap_message("  label column 'stars'; set data.label=NAME to change it", width=40))
      label column 'stars'; set
          data.label=NAME to change it
    >>> print(wrap_message("19 steps; use --minutes NUMBER to change it", width=24))
    19 steps; use
        --minutes NUMBER to
        change it
    >>> wrap_message("  seqlab train a-long-name.csv data.label=NAME", width=20)
    '  seqlab train a-long-name.csv data.label=NAME'
    """
    width = width or get_terminal_size().columns
    return "\n".join(_wrap_line(line, width, hanging) for line in text.split("\n"))


def _wrap_line(line: str, width: int, hanging: int) -> str:
    words = line.lstrip()
    if len(line) <= width or words.startswith("seqlab "):
        return line
    indent = line[: len(line) - len(words)]
    wrapped = textwrap.fill(
        OPTION.sub(rf"\1{GLUE}", words),
        width,
        initial_indent=indent,
        subsequent_indent=indent + hanging * " ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace(GLUE, " ")

"""Messages in lines that fit the terminal: a terminal would break them inside the name of a setting."""

from __future__ import annotations

import re
import textwrap
from shutil import get_terminal_size

HANGING = 4
OPTION = re.compile(r"(--[a-z][a-z-]*) (?=[A-Z0-9])")
GLUE = "\ue000"
"""In place of a space at which a line is not broken; a character that no message has."""


def wrap_message(text: str, *, width: int | None = None, hanging: int = HANGING) -> str:
    """Long lines are broken between words; the rest of a line is indented further. Commands stay on one line, so
    that they can be pasted, and an option stays with its value.

    >>> print(wrap_message("  a label column 'stars'; another: data.label=NAME", width=40))
      a label column 'stars'; another:
          data.label=NAME
    >>> print(wrap_message("19 steps; otherwise: --minutes NUMBER", width=30))
    19 steps; otherwise:
        --minutes NUMBER
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

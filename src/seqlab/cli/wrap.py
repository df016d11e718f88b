"""Messages in lines that fit the terminal: a terminal would break them inside the name of a setting."""

from __future__ import annotations

import textwrap
from shutil import get_terminal_size

HANGING = 4


def wrap_message(text: str, *, width: int | None = None, hanging: int = HANGING) -> str:
    """Long lines are broken between words; the rest of a line is indented further. Commands stay on one line, so
    that they can be pasted.

    >>> print(wrap_message("  a label column 'stars'; another: data.label=NAME", width=40))
      a label column 'stars'; another:
          data.label=NAME
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
    return textwrap.fill(
        words,
        width,
        initial_indent=indent,
        subsequent_indent=indent + hanging * " ",
        break_long_words=False,
        break_on_hyphens=False,
    )

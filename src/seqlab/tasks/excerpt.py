"""A text shortened for a message, a table or a report."""

from __future__ import annotations

MAX_CHARACTERS = 80


def excerpt(text: str) -> str:
    """The beginning of a text on one line.

    >>> excerpt("two\\n lines")
    'two lines'
    """
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"

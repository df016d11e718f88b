"""Put text on one line, in full or shortened, for messages and tables."""

from __future__ import annotations

MAX_CHARACTERS = 80


def one_line(text: str) -> str:
    """Replace line breaks and tabs with spaces.

    >>> one_line("a\\tb\\n c")
    'a b c'
    """
    return " ".join(text.split())


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line.

    >>> excerpt("two\\n lines")
    'two lines'
    """
    line = one_line(text)
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"

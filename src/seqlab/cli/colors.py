"""Terminal colors, off when the output is not a terminal or NO_COLOR is set (no-color.org)."""

from __future__ import annotations

import os
import re
from typing import TextIO

CODES = {"yellow": "33", "red": "31", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
MARKED = {
    re.compile(r"^\s*(?:WARNING:)", re.MULTILINE): "yellow",
    re.compile(r"\A[A-Z]\w*(?:Error|Problem|Extra):"): "red",
}
"""Prefixes of messages that are highlighted."""


def has_colors(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colors, and the user wants them."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, color: str) -> str:
    """
    >>> painted("done", "green")
    '\\x1b[32mdone\\x1b[0m'
    """
    return f"\x1b[{CODES[color]}m{text}\x1b[0m"


def highlighted(text: str) -> str:
    """A message with the prefix of a warning or an error in color.

    >>> highlighted("all is well"), highlighted("RunError: x")
    ('all is well', '\\x1b[31mRunError:\\x1b[0m x')
    """
    for pattern, color in MARKED.items():
        text = pattern.sub(painted(r"\g<0>", color), text)
    return text

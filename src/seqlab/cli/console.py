"""What the command line says: messages and progress on standard error, answers on standard output."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from typing import Any

from seqlab.core.errors import SeqlabError

LONGEST_MESSAGE = 12


def say(text: str = "") -> None:
    """A message for people, on standard error."""
    print(clean(text), file=sys.stderr, flush=True)  # noqa: T201 - the one place for messages


def answer(text: str, *, end: str = "\n") -> None:
    """The answer of a command, on standard output."""
    print(clean(text), end=end, flush=True)  # noqa: T201 - the one place for answers


def answer_json(value: Any) -> None:
    """One JSON object on standard output. JSON has no NaN and no infinity: those become null."""
    print(json.dumps(_finite(value), ensure_ascii=False), flush=True)  # noqa: T201 - the one place for JSON


def clean(text: str) -> str:
    """Control characters shown as their code, so that data cannot drive the terminal; line ends and tabs stay.

    >>> clean("a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\n'
    """
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Cf") else f"\\x{ord(character):02x}"
        for character in text
    )


def complain(error: SeqlabError) -> None:
    """A mistake in at most twelve lines."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    if len(lines) > LONGEST_MESSAGE:
        lines = [*lines[: LONGEST_MESSAGE - 1], "  …"]
    say("\n".join(line if len(line) <= 600 else line[:599] + "…" for line in lines))


def duration(seconds: float) -> str:
    """
    >>> duration(0.4), duration(75), duration(4000)
    ('0 s', '1 min 15 s', '1 h 07 min')
    """
    if not math.isfinite(seconds):
        return "unknown"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02d} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value

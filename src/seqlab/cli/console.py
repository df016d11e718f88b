"""Output of the command line: messages and progress on standard error, answers on standard output."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqlab.cli.colors import has_colors, highlighted, painted
from seqlab.cli.streams import explain_lost_answer, messages
from seqlab.cli.wrap import HANGING, wrap_message
from seqlab.core.errors import SeqlabError

LONGEST_MESSAGE = 12
LONGEST_LINE = 600

# What can control a terminal or reorder its text: control characters except line ends and tabs (ESC starts
# every terminal command; 0x9b is its 8-bit counterpart), bidirectional overrides and isolates, and lone
# surrogates, which no terminal can print. Joiners, soft hyphens and direction marks stay: emoji, Arabic and
# Indic text need them.
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
HARMFUL_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def say(text: str = "") -> None:
    """Print a message for people to standard error."""
    lines = clean(wrap_message(text) if sys.stderr.isatty() else text)
    messages.write(highlighted(lines) if has_colors(sys.stderr) else lines)


def answer(text: str, *, end: str = "\n") -> None:
    """Print the answer of a command to standard output."""
    with explain_lost_answer():
        print(clean(text), end=end, flush=True)  # noqa: T201 - the one place for answers


def answer_sentences(text: str, *, hanging: int = HANGING) -> None:
    """Print an answer in sentences, wrapped to the terminal; in a file or pipe, lines stay whole.

    hanging: indent of continuation lines.
    """
    answer(wrap_message(text, hanging=hanging) if sys.stdout.isatty() else text)


def answer_json(value: Any) -> None:
    """Print one JSON object to standard output. JSON has no NaN and no infinity: those become null."""
    text = json.dumps(_finite(value), ensure_ascii=not _writes_unicode(), default=str)
    line = HARMFUL_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    with explain_lost_answer():
        print(line, flush=True)  # noqa: T201 - the one place for JSON


def suggest(commands: Iterable[str]) -> None:
    """End an answer with the commands to run next, ready to paste."""
    with explain_lost_answer():
        lines = [clean(command) for command in commands]
        shown = [painted(line, "cyan") for line in lines] if has_colors(sys.stdout) else lines
        print("\n  ".join(["next:", *shown]), flush=True)  # noqa: T201 - colors come after cleaning


def quoted(word: str | Path) -> str:
    """A word, quoted for the shell.

    >>> quoted("runs/my run"), quoted("runs/a")
    ("'runs/my run'", 'runs/a')
    """
    return shlex.quote(str(word))


def clean(text: str) -> str:
    """Replace characters that could control a terminal by their codes; line ends and tabs stay.

    >>> clean("a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\n'
    """
    return HARMFUL.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text
    )


def print_error(error: SeqlabError) -> None:
    """Print an error in at most twelve lines."""
    lines = f"{type(error).__name__}: {error.message}".splitlines()
    if len(lines) > LONGEST_MESSAGE:
        lines = [*lines[: LONGEST_MESSAGE - 1], "  …"]
    say("\n".join(line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines))


def _writes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf8sig")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value

"""Where a snippet occurs in source code, whatever the formatter made of its line breaks, and the file with its replacement."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.mutations.mutant import Mutant

TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|\S")


class SnippetError(Exception):
    """A mutant that cannot be applied: its snippet is missing or ambiguous, or the mutated file does not compile."""


def apply(mutant: Mutant, package: Path) -> tuple[Path, str]:
    """The one file below `package` (src/seqlab) that holds the snippet, and its mutated text."""
    place = package / mutant.file
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.is_file() else []
    pattern = snippet_pattern(mutant.old)
    occurrences = [
        (file, text, match)
        for file in files
        if (text := file.read_text(encoding="utf-8"))
        for match in pattern.finditer(text)
    ]
    if len(occurrences) != 1:
        raise SnippetError(f"{mutant.old!r} occurs {len(occurrences)} times in {mutant.file}")
    file, text, match = occurrences[0]
    mutated = (
        text[: match.start()] + _indented(mutant.new, _indentation(text, match.start())) + text[match.end() :]
    )
    try:
        if file.suffix == ".py":
            compile(mutated, str(file), "exec")
    except SyntaxError as error:
        raise SnippetError(f"{mutant.file} does not compile with {mutant.new!r}: {error}") from error
    return file, mutated


def snippet_pattern(snippet: str) -> re.Pattern[str]:
    """Match the tokens of a snippet with any whitespace between them, and with or without trailing commas.

    >>> bool(snippet_pattern("f(a, b)").fullmatch("f(\\n    a,\\n    b,\\n)")), bool(snippet_pattern("a b").search("ab"))
    (True, False)
    """
    tokens = TOKEN.findall(snippet)
    parts = []
    for before, token in zip(["", *tokens[:-1]], tokens, strict=True):
        gap = r"\s+" if before[-1:].isalnum() and token[0].isalnum() else r"\s*"
        comma = ",?" if token in (")", "]", "}") and before != "," else ""
        parts.append((comma + gap if before else "") + re.escape(token))
    edges = [r"\b" if edge.isalnum() else "" for edge in (snippet.strip()[0], snippet.strip()[-1])]
    return re.compile(edges[0] + "".join(parts) + edges[1])


def _indentation(text: str, start: int) -> str:
    """That of the line in which a place lies."""
    line = text[text.rfind("\n", 0, start) + 1 :]
    return line[: len(line) - len(line.lstrip(" "))]


def _indented(replacement: str, indentation: str) -> str:
    """The lines after the first follow the code around them."""
    return ("\n" + indentation).join(textwrap.dedent(replacement).splitlines())

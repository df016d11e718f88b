"""What is each name in the source of Python's standard library? Called, defined, imported, a parameter, an attribute, a keyword, or merely used.

The names stand in their order without the signs between them: with brackets and dots in sight, a look at the next sign would tell. A row is a
few lines of code, the files are those of the Python that runs.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from seqlab.datasets.base import SEED, BuiltIn, as_parts, datasets
from seqlab.datasets.stdlib import find_files
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.splitting import hold_out

LARGEST = 70_000
"""Names in all: about a minute of training."""
MOST_OF_FILE = 1_500
"""Names taken from one file, so that many files have their say."""
ROW = 30
"""A row ends with the line in which it reaches so many names."""

Pair = tuple[str, str]


@datasets.register("python_tokens")
class PythonTokens(BuiltIn):
    """Tagging: the same name is called here and defined there."""

    name = "python_tokens"
    sentence = "Which names in Python's standard library are calls, definitions, parameters, attributes, imports? Without the signs between them."
    task = "tagging"
    settings = {"data.text": "words", "data.label": "tags"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = MemoryRows("python_tokens", ["words", "tags"], read_names())
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["words"]))


@cache
def read_names() -> list[dict[str, list[str]]]:
    rows: list[dict[str, list[str]]] = []
    left = LARGEST
    for path in find_files():
        if left <= 0:
            break
        pairs = list(rows_of(_lines_of_file(path)))
        rows += pairs
        left -= sum(len(row["words"]) for row in pairs)
    return rows


def _lines_of_file(path: Path) -> Iterator[list[Pair]]:
    """The lines of a file up to MOST_OF_FILE names; a file that no longer follows today's grammar ends where that shows."""
    taken = 0
    try:
        for line in tagged_lines(path.read_text(encoding="utf-8")):
            yield line
            taken += len(line)
            if taken >= MOST_OF_FILE:
                return
    except (tokenize.TokenError, SyntaxError):
        return


def rows_of(lines: Iterator[list[Pair]]) -> Iterator[dict[str, list[str]]]:
    """Lines joined until ROW names are reached."""
    waiting: list[Pair] = []
    for line in lines:
        waiting += line
        if len(waiting) >= ROW:
            yield {"words": [word for word, _ in waiting], "tags": [tag for _, tag in waiting]}
            waiting = []


def tagged_lines(source: str) -> Iterator[list[Pair]]:
    """The names of every logical line with what they are.

    >>> list(tagged_lines("def area(self, width=1):\\n    return math.prod(self.sides, start=width)\\n"))[0]
    [('def', 'keyword'), ('area', 'definition'), ('self', 'parameter'), ('width', 'parameter')]
    >>> list(tagged_lines("def area(side=2 * unit, **more): pass\\n"))[0][2:5]
    [('side', 'parameter'), ('unit', 'other'), ('more', 'parameter')]
    """
    line: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.OP):
            line.append(token)
        elif token.type == tokenize.NEWLINE:
            yield _tagged(line)
            line = []


def _tagged(line: list[tokenize.TokenInfo]) -> list[Pair]:
    texts = [token.string for token in line]
    parameters = _parameters(texts)
    found = []
    for place, token in enumerate(line):
        if token.type == tokenize.NAME:
            before, after = texts[place - 1] if place else "", texts[place + 1] if place + 1 < len(texts) else ""
            found.append((token.string, "parameter" if place in parameters else _kind(token.string, before, after, first=texts[0])))
    return found


def _kind(name: str, before: str, after: str, *, first: str) -> str:
    if keyword.iskeyword(name):
        return "keyword"
    if before in ("def", "class"):
        return "definition"
    if first in ("import", "from"):
        return "import"
    if after == "(":
        return "call"
    return "attribute" if before == "." else "other"


def _parameters(texts: list[str]) -> set[int]:
    """The places of names that a line beginning with def (or async def) declares between its brackets."""
    if "def" not in texts[:2]:
        return set()
    found, depth = set(), 0
    for place, text in enumerate(texts):
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            if depth == 0 and text == ")":
                break
        elif depth == 1 and text.isidentifier() and _opens_parameter(texts[:place]):
            found.add(place)
    return found


def _opens_parameter(before: list[str]) -> bool:
    """Whether a parameter may come next: at the bracket or behind a comma, also with stars; those of a product stand elsewhere."""
    stars = before[-1] in ("*", "**")
    return before[-2 if stars else -1] in ("(", ",")

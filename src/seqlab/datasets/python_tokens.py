"""The role of each name in the source of Python's standard library: called, defined, imported, a parameter,
an attribute, a keyword, or merely used.

The names are in order, without the punctuation between them: otherwise the next bracket or dot would
give away the tag. A row is a few lines of code from the files of the running Python.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.datasets.stdlib import find_source_files
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

MAX_NAMES = 70_000
"""Total number of names: about a minute of training."""
MAX_NAMES_PER_FILE = 1_500
"""Maximum number of names per file, so that many files are represented."""
MIN_NAMES_PER_ROW = 30
"""A row ends with the line in which it reaches this many names."""

TaggedName = tuple[str, str]


@datasets.register("python_tokens")
class PythonTokens(BuiltInDataset):
    """Tagging: the same name may be a call in one place and a definition in another."""

    name = "python_tokens"
    description = (
        "Which names in Python's standard library are calls, definitions, parameters, attributes"
        " or imports? Punctuation is removed."
    )
    task = "tagging"
    settings = {"data.text": "words", "data.label": "tags"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("python_tokens", ["words", "tags"], read_tagged_names())
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["words"])
        )


@cache
def read_tagged_names() -> list[dict[str, list[str]]]:
    rows: list[dict[str, list[str]]] = []
    remaining = MAX_NAMES
    for path in find_source_files():
        if remaining <= 0:
            break
        pairs = list(group_lines(_lines_of_file(path)))
        rows += pairs
        remaining -= sum(len(row["words"]) for row in pairs)
    return rows


def _lines_of_file(path: Path) -> Iterator[list[TaggedName]]:
    """The lines of a file up to MOST_OF_FILE names; a file with syntax that this Python does not accept ends where
    that occurs.
    """
    num_taken = 0
    try:
        for line in tagged_lines(path.read_text(encoding="utf-8")):
            yield line
            num_taken += len(line)
            if num_taken >= MAX_NAMES_PER_FILE:
                return
    except (tokenize.TokenError, SyntaxError):
        return


def group_lines(lines: Iterator[list[TaggedName]]) -> Iterator[dict[str, list[str]]]:
    """Lines joined until ROW names are reached."""
    pending: list[TaggedName] = []
    for line in lines:
        pending += line
        if len(pending) >= MIN_NAMES_PER_ROW:
            yield {"words": [word for word, _ in pending], "tags": [tag for _, tag in pending]}
            pending = []


def tagged_lines(source: str) -> Iterator[list[TaggedName]]:
    """The names of every logical line with their roles.

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


def _tagged(line: list[tokenize.TokenInfo]) -> list[TaggedName]:
    texts = [token.string for token in line]
    parameters = _parameters(texts)
    tagged = []
    for index, token in enumerate(line):
        if token.type == tokenize.NAME:
            before, after = (
                texts[index - 1] if index else "",
                texts[index + 1] if index + 1 < len(texts) else "",
            )
            tagged.append(
                (
                    token.string,
                    (
                        "parameter"
                        if index in parameters
                        else _kind(token.string, before, after, first=texts[0])
                    ),
                )
            )
    return tagged


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
    """The positions of the parameter names in a line that starts with def (or async def)."""
    if "def" not in texts[:2]:
        return set()
    indices, depth = set(), 0
    for index, text in enumerate(texts):
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            if depth == 0 and text == ")":
                break
        elif depth == 1 and text.isidentifier() and _opens_parameter(texts[:index]):
            indices.add(index)
    return indices


def _opens_parameter(before: list[str]) -> bool:
    """Whether a parameter may come next: after the parenthesis or a comma, possibly with stars; those of a
    product are elsewhere.
    """
    stars = before[-1] in ("*", "**")
    return before[-2 if stars else -1] in ("(", ",")

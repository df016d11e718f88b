"""A page as a story: its blocks of Python and its shell commands, from top to bottom.

Commands are the lines after `$ ` of any block. A block without such lines that is marked `sh`, or indented, has a
command on each line. A backslash at the end of a line continues the command on the next one. A comment
`<!-- not run: needs a compiler -->` above a block says why it is not run; `<!-- needs published weights -->`, that it
runs only where these are installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.docs.pages import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PROGRAMS = ("seqlab", "python", "pip", "make", "cat")
FENCED = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^ {4,}\S[^\n]*\n(?:[ \t]*\n(?= {4}))*)+", re.MULTILINE)
NOT_RUN = re.compile(r"<!-- (?:not run: ([^>]+?)|(needs published weights)) -->\s*\Z")
PUBLISHED_WEIGHTS = "needs published weights"
FILE_NAME = re.compile(r"# ([\w.-]+\.toml)\n")


@dataclass(frozen=True)
class Step:
    """Something on a page that a reader can type."""

    line: int
    reason: str
    """Why it is not run; empty if it is."""


@dataclass(frozen=True)
class Command(Step):
    """A line for the shell."""

    text: str
    shown: str
    """The first line that the page shows below it, if any."""


@dataclass(frozen=True)
class Code(Step):
    """A block of Python."""

    text: str
    prints: str | None
    """The output, if the page shows it."""


@dataclass(frozen=True)
class Saved(Step):
    """A file that the page asks the reader to save: a recipe with its name in the first line."""

    name: str
    text: str


@dataclass(frozen=True)
class _Block:
    start: int
    end: int
    language: str
    text: str
    line: int
    reason: str


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def steps_of(page: Path) -> list[Step]:
    """All that a reader can type, in the order of the page."""
    text = page.read_text(encoding="utf-8")
    blocks = sorted(_blocks(text), key=lambda block: block.start)
    steps: list[Step] = []
    for block, following in zip_longest(blocks, blocks[1:]):
        if block.language == "python":
            is_output = (
                following
                and following.language in ("", "text")
                and not text[block.end : following.start].strip()
            )
            steps.append(
                Code(
                    block.line, block.reason, block.text, following.text if following and is_output else None
                )
            )
        elif name := FILE_NAME.match(block.text):
            steps.append(Saved(block.line, block.reason, name[1], block.text))
        else:
            steps += _commands(block)
    return steps


def _blocks(text: str) -> Iterator[_Block]:
    for match in FENCED.finditer(text):
        yield _block(text, match, language=match[1], content=match[2])
    outside = FENCED.sub(lambda match: re.sub(r"[^\n]", "#", match[0]), text)
    for match in INDENTED.finditer(outside):
        yield _block(text, match, language="indented", content=match[0])


def _block(text: str, match: re.Match[str], *, language: str, content: str) -> _Block:
    before = text[: match.start()]
    reason = NOT_RUN.search(before)
    return _Block(
        match.start(),
        match.end(),
        language,
        content,
        before.count("\n") + 1,
        (reason[1] or reason[2]) if reason else "",
    )


def _commands(block: _Block) -> Iterator[Command]:
    lines = list(_joined(block.text))
    first = block.line if block.language == "indented" else block.line + 1
    has_prompts = any(line.startswith("$ ") for _, line in lines)
    for (number, line), following in zip_longest(lines, lines[1:]):
        if has_prompts:
            is_command = line.startswith("$ ")
        elif block.language == "sh":
            is_command = bool(line) and not line.startswith("#")
        else:
            is_command = block.language == "indented" and line.partition(" ")[0] in PROGRAMS
        if is_command:
            shown = following[1] if has_prompts and following else ""
            yield Command(first + number, block.reason, line.removeprefix("$ "), shown)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 0; a line that ends with a backslash continues on the next."""
    start, parts = 0, []
    for number, line in enumerate(text.splitlines()):
        start = start if parts else number
        parts.append(line.strip().removesuffix("\\").rstrip())
        if not line.endswith("\\"):
            yield start, " ".join(parts)
            parts = []


def every_example_has_its_output(page: Path) -> None:
    """Whether the page shows what each of its blocks of Python prints; test_stories.py compares."""
    blocks = [step for step in steps_of(page) if isinstance(step, Code)]
    assert blocks, "no block of Python"
    assert [step.line for step in blocks if step.prints is None] == []

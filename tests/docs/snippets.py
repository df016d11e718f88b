"""Code blocks of documents that a marker asks to run, and the small files that they read.

A comment `<!-- run: slow -->` or `<!-- run: long -->` stands above a block of Python or of shell commands. Blocks of
a page with the same word run in the order of the page, in one folder, so that a later one can use the run of an
earlier one.
"""

from __future__ import annotations

import random
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import run

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARKED = re.compile(r"^<!-- run: (slow|long) -->\n```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WORDS = {
    "good": ["great", "lovely", "not bad", "well made", "a joy"],
    "bad": ["dull", "boring", "not good", "a mess", "too long"],
}


@dataclass(frozen=True)
class Snippet:
    """A block and its language."""

    language: str
    text: str

    def run(self, page: str, capsys: pytest.CaptureFixture[str]) -> None:
        if self.language == "python":
            exec(compile(self.text, page, "exec"), {"__name__": "__main__"})  # our own page
            return
        for line in self.text.splitlines():
            name, *words = shlex.split(line, comments=True) or [""]
            if name:
                assert name == "seqlab", f"{page}: only seqlab commands can be run: {line}"
                outcome = run(capsys, *words)
                assert outcome.code == 0, f"{page}: {line}\n{outcome.err}"


def marked_snippets(text: str, speed: str) -> list[Snippet]:
    """The blocks of a page that are to be run among the slow tests, or among the long ones."""
    return [Snippet(language, code) for mark, language, code in MARKED.findall(text) if mark == speed]


def python_blocks(text: str) -> list[str]:
    """Every block of Python, marked or not."""
    return [code for language, code in BLOCK.findall(text) if language == "python"]


def write_files(folder: Path) -> None:
    """The files that documents speak of: reviews.csv, novel.txt, corpus.en and corpus.de."""
    chance = random.Random(7)

    def review(label: str) -> str:
        return " ".join(
            [*chance.choices(WORDS[label], k=chance.randint(2, 6)), f"no {chance.randint(1, 999)}"]
        )

    rows = [f"{review(label)},{label}" for label in list(WORDS) * 120]
    (folder / "reviews.csv").write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    nights = ["dark", "stormy", "quiet", "long"]
    novel = "".join(f"It was a {chance.choice(nights)} night, and chapter {n} began.\n" for n in range(400))
    (folder / "novel.txt").write_text(novel, encoding="utf-8")
    numbers = [chance.randint(1, 999) for _ in range(200)]
    (folder / "corpus.en").write_text("".join(f"page {n} of the book\n" for n in numbers), encoding="utf-8")
    (folder / "corpus.de").write_text("".join(f"Seite {n} des Buches\n" for n in numbers), encoding="utf-8")

"""Lines that start with a label: `spam win a prize now`, or `__label__spam win a prize now` as fastText has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row
from seqlab.sources.column_profile import FORMAL
from seqlab.sources.encoding import first_lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.row_file import RowFile
from seqlab.sources.settings import DataSettings

MARK = "__label__"
FEWEST_LINES, MOST_LABELS = 20, 100
LINES_PER_LABEL = 5
"""Minimum average count of a first word for first words to be labels."""
RARE = 0.01
"""Maximum fraction of the remaining words that may be labels as well."""


@source_formats.register("labeled_lines")
class LabeledLines(RowFile):
    """A row per line with the columns `label` and `text`. With several fastText labels, the column contains
    a list.
    """

    suffixes = ()
    format_name = "labeled_lines"
    no_rows = "is empty."
    expected = "Each line must be a label, a space and a text."

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = ["label", "text"]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self.settings = settings
        lines = first_lines(path, settings.encoding)
        self._has_lists = any(len(_marked(line.split())) > 1 for line in lines)

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}:{self._has_lists}"

    def read_rows(self, reading: Pass) -> Iterator[Row]:
        return self.parse_lines(self._values, reading)

    def _values(self, line: str, number: int) -> dict[str, Any]:
        words = line.split()
        labels = _marked(words) or words[:1]
        text = line.strip()
        for label in labels:
            text = text.removeprefix(label).lstrip()
        if not text:
            raise DataError(
                f"the label '{labels[0][:40]}' has no text.",
                where=f"{self.name}, line {number}",
                cure="Fix the line, or skip such rows with data.bad_rows=skip.",
            )
        names = [label.removeprefix(MARK) for label in labels]
        return {"label": names if self._has_lists else names[0], "text": text}


def _marked(words: Sequence[str]) -> list[str]:
    """The labels with fastText's mark at the start of a line."""
    at = next((at for at, word in enumerate(words) if not word.startswith(MARK)), len(words))
    return list(words[:at])


def looks_labeled(lines: Sequence[str]) -> bool:
    """Whether the first words of lines are a small closed set that the rest of the lines does not use.

    >>> looks_labeled(["spam win a prize", "ham see you at home"] * 10)
    True
    >>> looks_labeled(["the dog sees the cat", "a cat sees a dog"] * 10)
    False
    """
    words = [line.split() for line in lines if line.strip()]
    if len(words) < FEWEST_LINES:
        return False
    if all(row[0].startswith(MARK) for row in words):
        return True
    labels = Counter(row[0] for row in words)
    most = min(MOST_LABELS, len(words) // LINES_PER_LABEL)
    if not 2 <= len(labels) <= most or any(len(row) < 2 for row in words):
        return False
    if any(label.endswith((":", ",", ".", "!", "?", "-", ")")) or not label[0].isalnum() for label in labels):
        return False  # speakers, list items, one-word sentences
    if any(FORMAL.fullmatch(label) for label in labels):
        return False  # a log whose lines begin with a date
    rest = Counter(word.strip(".,;:!?\"'").casefold() for row in words for word in row[1:])
    used = sum(rest[label.casefold()] for label in labels)
    return used <= RARE * rest.total()

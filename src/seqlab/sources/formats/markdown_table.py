"""Tables in Markdown: pipes between the cells, a rule below the header, text around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from seqlab.sources.formats.csv_table import CsvTable
from seqlab.sources.formats.quotes import LineReader, Reader
from seqlab.sources.formats.registry import source_formats

RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
PIPE = re.compile(r"(?<!\\)\|")
MOSTLY = 0.5


def looks_like_markdown_table(lines: Sequence[str]) -> bool:
    """Whether most lines begin with a pipe, and one of them is the rule below a header."""
    rows = [line.strip() for line in lines if line.lstrip().startswith("|")]
    return len(rows) > MOSTLY * len(lines) and any(map(RULE.fullmatch, rows))


class MarkdownReader(LineReader):
    """Cuts lines at pipes; lines outside tables, and rules, are not rows."""

    def cut(self, line: str) -> list[str]:
        line = line.strip()
        if not line.startswith("|") or RULE.fullmatch(line):
            return []
        inner = line[1:-1] if PIPE.search(line[-2:]) else line[1:]
        return [cell.strip().replace("\\|", "|") for cell in PIPE.split(inner)]


@source_formats.register("markdown")
class MarkdownTable(CsvTable):
    """A table in a Markdown file; the text around it is ignored."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    usual_delimiter = "|"

    def _reader(self, lines: Iterable[str]) -> Reader:
        return MarkdownReader(lines)

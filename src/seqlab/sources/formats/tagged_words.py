"""Tagged words: one word and its tag per line, a blank line between sentences; also CoNLL files, which have
more columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from seqlab.core.errors import DataError, shortened
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.column_names import names_columns
from seqlab.sources.encoding import first_lines
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.table_head import SENTENCE_ENDS
from seqlab.sources.settings import DataSettings

PAIR = ["word", "tag"]
CONLLU = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
"""The columns of Universal Dependencies, recognized by ten fields, the first of which is a number.
https://universaldependencies.org/format.html
"""
DOCUMENT = "-DOCSTART-"
"""In CoNLL-2003 files this word starts a document; it is on a line of its own, without a tag to learn."""
FEWEST_WORDS, MOST_COLUMNS = 20, 12


@source_formats.register("tagged")
class TaggedWords(Source):
    """One row per sentence: for each column, the list of values in its lines.

    Two columns are named word and tag, those of Universal Dependencies have their own names, others are named by
    number, from 1. Columns are separated by tabs if the first line has one, else by whitespace. A line that
    starts with # and is not a table row is a comment, and so is "# …" without a tab before the first word
    of a sentence; parts of a contraction that Universal Dependencies repeats (ids such as 1-2 and 8.1) are
    skipped, and so are the lines that start a document.
    """

    suffixes = (
        ".conll",
        ".conllu",
        ".iob",
        ".bio",
        ".tagged",
    )

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        first = next(
            (
                line
                for line in Lines(path, encoding=settings.encoding)
                if line.strip() and not _is_aside(line)
            ),
            "",
        )
        if not first:
            raise DataError(
                "is empty.",
                where=self.name,
                cure="Each line must contain a word and its tag; blank lines separate sentences.",
            )
        self._delimiter = settings.delimiter or ("\t" if "\t" in first else None)
        self.columns = self._names(self._cells(first))

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._sentences,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="contains no sentences.",
            cure="Each line must contain a word and its tag.",
        )

    def fingerprint(self) -> str:
        settings = self._settings
        return f"tagged:{content_hash(self.path)}:{self._delimiter!r}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"

    def _sentences(self, reading: Pass) -> Iterator[Row]:
        """A sentence with an unreadable line is rejected as a whole."""
        words: list[list[str]] = []
        start, problem = 0, None
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.skip)
        for number, line in enumerate(self._with_end(lines), start=1):
            if not line.strip():
                if problem is not None:
                    reading.reject(problem)
                elif words:
                    yield Row(
                        {
                            name: list(cells)
                            for name, cells in zip(self.columns, zip(*words, strict=True), strict=True)
                        },
                        self.name,
                        start,
                    )
                words, start, problem = [], 0, None
                continue
            line_problem, lines.problem = lines.problem, None
            if line_problem is None and (
                self._is_comment(line, comes_first=not words)
                or self._is_repeated(line)
                or line.startswith(DOCUMENT)
            ):
                continue
            start = start or number
            cells = self._cells(line)
            problem = problem or line_problem or self._wrong(cells, line, number)
            if problem is not None and not self.bad_rows.skip:
                raise problem
            words.append(cells)

    @staticmethod
    def _with_end(lines: Lines) -> Iterator[str]:
        yield from lines
        yield ""  # ends the last sentence

    def _cells(self, line: str) -> list[str]:
        return [cell.strip() for cell in line.rstrip("\r\n").split(self._delimiter)]

    def _names(self, cells: list[str]) -> list[str]:
        if len(cells) == len(CONLLU) and _is_number(cells[0]):
            return CONLLU
        if len(cells) == 1:
            raise DataError(
                f"the first line contains only {shortened(cells[0])!r}, without a tag.",
                where=self.name,
                cure=(
                    "Each line must contain a word and its tag, separated by a tab or spaces; for another"
                    " separator, set data.delimiter=CHARACTER"
                ),
            )
        return PAIR if len(cells) == len(PAIR) else [str(number) for number in range(1, len(cells) + 1)]

    def _is_comment(self, line: str, *, comes_first: bool) -> bool:
        """comes_first: the line precedes all words of the sentence."""
        return line.startswith("#") and (
            len(self._cells(line)) != len(self.columns)
            or (comes_first and line.startswith("# ") and "\t" not in line)
        )

    def _is_repeated(self, line: str) -> bool:
        return (
            self.columns is CONLLU and not self._cells(line)[0].isdigit() and _is_number(self._cells(line)[0])
        )

    def _wrong(self, cells: list[str], line: str, number: int) -> DataError | None:
        where = f"{self.name}, line {number}"
        if len(cells) != len(self.columns):
            between = (
                "spaces"
                if self._delimiter is None
                else "a tab"
                if self._delimiter == "\t"
                else repr(self._delimiter)
            )
            count = f"{len(cells)} column{'s' if len(cells) != 1 else ''}"
            return DataError(
                f"{count}, expected {len(self.columns)} ({', '.join(self.columns)}):"
                f" {shortened(line.strip())!r}.",
                where=where,
                cure=(
                    f"Columns must be separated by {between}, as in the first line. To skip such sentences,"
                    " set data.bad_rows=skip."
                ),
            )
        if "" in cells:
            return DataError(
                f"column '{self.columns[cells.index('')]}' is empty.",
                where=where,
                cure="Fix the line, or skip the sentence with data.bad_rows=skip.",
            )
        return None


def looks_tagged(path: Path, encoding: str = "") -> bool:
    """Whether a file contains tagged words, judged by its content: the same number of columns in every line, blank lines
    between groups, and no table. Spaces may separate columns if the last column is a small closed set.
    """
    lines = first_lines(path, encoding)
    inner = "\n".join(lines).strip("\n").split("\n")
    if not any(not line.strip() for line in inner):
        return False
    for delimiter in ("\t", None):
        rows = [line.split(delimiter) for line in lines if line.strip() and not _is_aside(line)]
        widths = {len(row) for row in rows}
        if len(widths) == 1 and widths != {1}:
            return not _is_table(rows) if delimiter else _has_tags(rows)
    return False


def _has_tags(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the last words of lines of equal length are tags: few distinct values, most of them repeated, that do not
    end sentences.
    """
    tags = {row[-1] for row in rows}
    if 2 * sum(tag[:-1].isalpha() and tag.endswith(SENTENCE_ENDS) for tag in tags) > len(tags):
        return False
    return len(rows) >= FEWEST_WORDS and len(rows[0]) <= MOST_COLUMNS and len(tags) <= min(60, len(rows) // 5)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names columns, or most lines have a cell of several words; a word with a space
    inside (1 000) is rare.
    """
    return names_columns(rows[0]) or 2 * sum(any(" " in cell.strip() for cell in row) for row in rows) > len(
        rows
    )


def _is_aside(line: str) -> bool:
    """A comment, or the start of a document, before the columns are known; # may also be a word, in a line
    with the same number of columns as the others.
    """
    return (line.startswith("#") and "\t" not in line) or line.startswith(DOCUMENT)


def _is_number(cell: str) -> bool:
    """Whether a cell is the id of a word, of a contraction (1-2) or of an empty node (0.1)."""
    return cell.replace("-", "").replace(".", "").isdigit()

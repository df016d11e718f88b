"""Tables of text: CSV and TSV, row by row, with every cell kept as text ("NA" and "None" are words)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.errors import DataError
from seqlab.core.files import megabytes
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.quotes import Reader, TabReader, where_quote_opens
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.table_head import SENTENCE_ENDS, Record, read_head
from seqlab.sources.settings import DataSettings

CANDIDATES = (",", ";", "\t", "|")


def guess_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits the most lines into the same number of fields; ties go to the most fields.

    >>> guess_delimiter(["text;label", "good, really good;pos", "bad;neg"])
    ';'
    """

    def score(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(fields) for fields in _cut(lines, delimiter) if fields)
        width, count = max(widths.items(), key=lambda entry: (entry[0] > 1, entry[1]), default=(0, 0))
        return (count / widths.total(), width) if width > 1 else (0.0, 0)

    return max(CANDIDATES, key=score)  # the first of equals: a table of one column counts as comma separated


def _cut(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for fields in csv.reader(lines, delimiter=delimiter):
            rows.append(fields)
    except csv.Error:
        pass  # what was cut so far is enough for a guess; the reader itself will report the mistake
    return rows


LONGEST_FIELD = 10_000_000
SNIFFED_LINES, SNIFFED_ROWS = 50, 200
COMPARED_ROWS = 1000


def _numbered(reader: Reader) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Every row with the line on which it starts; the error in place of a row that cannot be parsed."""
    while True:
        start = reader.line_num + 1
        try:
            yield start, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield start, error


def _recorded(lines: Iterable[str], record: list[str]) -> Iterator[str]:
    """The lines, each also appended to `record`."""
    for line in lines:
        record.append(line)
        yield line


@source_formats.register("csv")
class CsvTable(Source):
    """A table with a header line, or with numbered columns. Fields may be quoted and then
    contain delimiters and line breaks.

    Tab-separated files are read the way they are usually written: a quotation mark is an ordinary character,
    unless it opens and closes the field.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    usual_delimiter = ""
    """Default delimiter; guessed when empty."""

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        self.delimiter = settings.delimiter or self.usual_delimiter or guess_delimiter(self._first_lines())
        self._head = read_head(self._first_records(), settings, where=self.name)
        self.columns, self.notes = self._head.columns, self._head.notes

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._usable_rows,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="contains a header line but no rows.",
            cure="Is this the right file? Rows are expected from line 2 on.",
        )

    def starts_with_row(self, columns: Sequence[str]) -> bool:
        """Whether the column names look like the rows below them: one ends like a sentence, or all are
        phrases that also occur there.
        """
        if not self._head.has_header:
            return False
        if any(name.endswith(SENTENCE_ENDS) for name in columns):
            return True
        if any(len(name.split()) < 2 for name in columns):
            return False
        words = {name: set[str]() for name in columns}
        for row in islice(self.rows(), COMPARED_ROWS):
            for name, known in words.items():
                known.update(row.values[name].split())
        return all(known.issuperset(name.split()) for name, known in words.items())

    @property
    def header(self) -> list[str]:
        """The names of all columns as in the file; empty without a header."""
        return list(self._head.names) if self._head.has_header else []

    @property
    def width(self) -> int:
        return self._head.width

    def records(self) -> Iterator[tuple[list[str], dict[str, Any] | None]]:
        """All rows with their raw fields, and their cells by column: None for a row with the wrong number of fields.

        If quotation marks do not match, every line is a row, with at most as many fields as columns.
        """
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=True)
        taken: list[str] = []
        reader, head = self._reader(_recorded(lines, taken)), self._head
        for start, fields in _numbered(reader):
            is_row = start >= head.line + head.has_header  # a second header is kept and gets no prediction
            if isinstance(fields, csv.Error):
                for line in taken if is_row else ():
                    yield line.rstrip("\r\n").split(self.delimiter, maxsplit=max(head.width - 1, 0)), None
            elif is_row and fields:
                cells = fields if len(fields) == head.plain_width else head.cells(fields)
                is_usable = bool(cells) and lines.problem is None and start >= head.first_row
                yield fields, dict(zip(self.columns, cells or (), strict=True)) if is_usable else None
            lines.problem = None
            taken.clear()

    def fingerprint(self) -> str:
        settings = self._settings
        rest = "" if self._head.has_header else ":no header"
        rest += (
            f":from {self._head.line}:{self._head.places}" if self._head.line > 1 or self._head.places else ""
        )
        rest += f":after {self._head.second_header}" if self._head.second_header else ""
        return f"csv:{content_hash(self.path)}:{self.delimiter!r}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}{rest}"

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.tolerates)
        taken: list[str] = []
        reader = self._reader(_recorded(lines, taken))
        columns, head, file = self.columns, self._head, self.name
        first_row, plain_width = head.first_row, head.plain_width
        for start, fields in _numbered(reader):
            if isinstance(fields, csv.Error):
                reading.reject(
                    self._misquoted(start, taken, fields), rows=len(taken)
                )  # lines inside an unclosed quotation are lost as well
                taken.clear()
                continue
            taken.clear()
            if start < first_row:
                lines.problem = None
            elif lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
            elif not fields or (len(fields) > 1 and not any(fields)):
                continue  # an empty line, as a spreadsheet writes it too
            elif cells := fields if len(fields) == plain_width else head.cells(fields):
                yield Row(dict(zip(columns, cells, strict=True)), file, start)
            else:
                reading.reject(self._ragged(start, reader.line_num, len(fields)))

    def _reader(self, lines: Iterable[str]) -> Reader:
        if self.delimiter == "\t":
            return TabReader(lines)
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        return csv.reader(lines, delimiter=self.delimiter, strict=True)

    def _first_lines(self) -> list[str]:
        return list(islice(Lines(self.path, encoding=self._settings.encoding, keep_bad=True), SNIFFED_LINES))

    def _first_records(self) -> list[Record]:
        """The rows from which the header is detected, with the lines on which they start."""
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.tolerates)
        taken, records = list[str](), list[Record]()
        for start, fields in _numbered(self._reader(_recorded(lines, taken))):
            if len(records) == SNIFFED_ROWS:
                break
            if isinstance(fields, csv.Error):
                if not records:
                    raise self._misquoted(start, taken, fields) from fields
            elif any(field.strip() for field in fields):
                records.append((start, fields))
            taken.clear()  # a misquoted row is reported where it is read
        if not records:
            raise DataError(
                "is empty.",
                where=self.name,
                cure="A table needs a header line with the column names, followed by rows.",
            )
        return records

    def _ragged(self, start: int, end: int, num_cells: int) -> DataError:
        header = ",".join(self.columns)
        expected = f"{len(self.columns)} ({header if len(header) <= 80 else header[:79] + '…'})"
        span = (
            f" The row continues to line {end}: is a closing quotation mark missing?" if end > start else ""
        )
        return DataError(
            f"{num_cells} field{'s' if num_cells != 1 else ''}, expected {expected}.{span}",
            where=f"{self.name}, line {start}",
            cure=(
                "Quote fields that contain the delimiter, set data.delimiter if the delimiter is wrong,"
                " or skip such rows with data.bad_rows=skip."
            ),
        )

    def _misquoted(self, start: int, lines: Sequence[str], error: csv.Error) -> DataError:
        """The error for a row that starts on line `start` and consists of `lines`."""
        opened = where_quote_opens(lines, self.delimiter)
        line, column = start + opened[0], opened[1] + 1
        where = f"{self.name}, line {line}, column {column}"
        cure = (
            'Close it, and double quotation marks inside a quoted field (""); or skip such rows with'
            " data.bad_rows=skip."
        )
        if "unexpected end" in str(error):
            return DataError("the quotation mark that opens here is never closed.", where=where, cure=cure)
        if "field larger" in str(error):
            return DataError(
                f"a field longer than {megabytes(LONGEST_FIELD)} starts here: is a closing quotation mark"
                " missing?",
                where=where,
                cure=cure,
            )
        return DataError(
            f"the quotation mark that opens here closes on line {start + len(lines) - 1}, in the middle of a field.",
            where=where,
            cure=cure,
        )


@source_formats.register("tsv")
class TsvTable(CsvTable):
    """A table with a tab between the columns."""

    suffixes = (".tsv", ".tab")
    usual_delimiter = "\t"

"""Part of a source: the rows that a rule selects, reread from the whole source on every pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count, islice

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source, TextSource
from seqlab.sources.formats.text_file import cut_into_chunks
from seqlab.sources.split_names import SPLITS


class MarkedRows(Source):
    """The rows with a given mark. The marks take one byte per row of the whole source."""

    def __init__(self, whole: Source, marks: bytes | bytearray, mark: int, *, part: str) -> None:
        self.whole = whole
        self.name = f"{whole.name} ({part})"
        self.columns = list(whole.columns)
        self.bad_rows = whole.bad_rows
        self._marks = bytes(marks)
        self._mark = mark

    def __len__(self) -> int:
        return self._marks.count(self._mark)

    def rows(self) -> Iterator[Row]:
        index = -1
        for index, row in enumerate(self.whole.rows()):
            if index >= len(self._marks):
                raise self._changed()
            if self._marks[index] == self._mark:
                yield row
        if index + 1 != len(self._marks):
            raise self._changed()

    def fingerprint(self) -> str:
        marks = hashlib.blake2b(self._marks, digest_size=16).hexdigest()
        return f"{self.whole.fingerprint()}:{marks}:{self._mark}"

    def _changed(self) -> DataError:
        return DataError(
            "the number of rows changed while seqlab was reading the file.",
            where=self.whole.name,
            cure="Start again, and do not modify the file in the meantime.",
        )


class MarkedLines(MarkedRows, TextSource):
    """The lines of a text with a given mark."""

    def chunks(self, size: int) -> Iterator[str]:
        return cut_into_chunks((row.values["text"] + "\n" for row in self.rows()), size)


class TextPart(TextSource):
    """The characters from `start` to `stop` of a text; `first_line` is the number of the line that contains the
    first one.
    """

    def __init__(self, whole: TextSource, *, start: int, stop: int, first_line: int, part: str) -> None:
        self.whole = whole
        self.name = f"{whole.name} ({part})"
        self.columns = ["text"]
        self.bad_rows = whole.bad_rows
        self._start, self._stop, self._first_line = start, stop, first_line

    def rows(self) -> Iterator[Row]:
        places = self._places()
        unfinished: list[str] = []  # the pieces of a line, which may be as long as the text
        for chunk in self.chunks(1 << 16):
            first, *others = chunk.split("\n")
            unfinished.append(first)
            for piece in others:
                yield Row({"text": "".join(unfinished).rstrip("\r")}, *next(places))
                unfinished = [piece]
        if line := "".join(unfinished):
            yield Row({"text": line.rstrip("\r")}, *next(places))

    def _places(self) -> Iterator[tuple[str, int]]:
        """The file and the line of every line, as counted in the whole source: from 1 in each file."""
        line = self._first_line
        if self.whole.num_files > 1 or not self.whole.counts_every_line:
            for row in islice(self.whole.rows(), self._first_line - 1, None):
                yield row.file, row.line
                line += 1
        for number in count(line):
            yield self.whole.name, number

    def chunks(self, size: int) -> Iterator[str]:
        return cut_into_chunks(self._pieces(), size)

    def fingerprint(self) -> str:
        return f"{self.whole.fingerprint()}:{self._start}-{self._stop}"

    def _pieces(self) -> Iterator[str]:
        begin = 0
        for piece in self.whole.chunks(1 << 20):
            if begin >= self._stop:
                return
            if begin + len(piece) > self._start:
                yield piece[max(self._start - begin, 0) : self._stop - begin]
            begin += len(piece)


class ColumnSplit(Source):
    """The rows whose split column names one part: train, valid (val, dev) or test."""

    def __init__(self, whole: Source, column: str, part: str) -> None:
        self.whole = whole
        self.name = f"{whole.name} ({part})"
        self.columns = [name for name in whole.columns if name != column]
        self.bad_rows, self.notes = whole.bad_rows, whole.notes
        self._column, self._part = column, part

    def rows(self) -> Iterator[Row]:
        for row in self.whole.rows():
            if part_of(row, self._column) == self._part:
                yield row

    def fingerprint(self) -> str:
        return f"{self.whole.fingerprint()}:{self._column}={self._part}"


def part_of(row: Row, column: str) -> str:
    """The split that a row belongs to."""
    value = row.values.get(column)
    part = SPLITS.get(value.strip().lower(), "") if isinstance(value, str) else ""
    if not part:
        cure = (
            "Allowed: train, valid (val, dev, validation) and test. If the column means something"
            " else, rename it."
        )
        raise DataError(
            f"column '{column}' contains {value!r}, which is not the name of a split.",
            where=row.where,
            cure=cure,
        )
    return part

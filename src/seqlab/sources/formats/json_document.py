"""JSON documents: an array of objects, an object that contains such an array at any depth, or consecutive objects.

They are read piece by piece, one object in memory at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row
from seqlab.sources.encoding import first_lines
from seqlab.sources.files.lines import text_blocks
from seqlab.sources.formats.json_columns import nested_rows, rows_of_object
from seqlab.sources.formats.json_objects import DECODER, JsonObjects, as_values, unusable
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.split_names import SPLITS

LONGEST_VALUE = 50_000_000
CURE = 'Expected an array of objects, such as [{"text": "…", "label": "…"}], or one object per line (.jsonl).'
ONE_OBJECT = "the whole table is one object, as pandas writes it; in messages, line N means row N"
NESTED = "the rows are in '{}'; in messages, line N means row N"
ONE_LINE = "several rows are on one line; in messages, line N means row N"
Element = tuple[int, Any, bool]
"""The line on which a value starts, the value, and whether \\u is in it."""
BLANK = " \t\r\n\ufeff"


class JsonReader:
    """Values of JSON text that arrives in pieces, and the line on which each starts."""

    def __init__(self, pieces: Iterator[str], *, where: str) -> None:
        self._pieces, self._where = pieces, where
        self._text, self._at, self.line = "", 0, 1

    def peek(self) -> str:
        """The next non-whitespace character; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in BLANK:
                self.line += self._text[self._at] == "\n"
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more(1):
                return ""

    def peeks_at_objects(self) -> bool:
        """Whether the next value is an array whose first element is an object."""
        if self.peek() != "[":
            return False
        while not (after := self._text[self._at + 1 :].lstrip(BLANK)) and self._read_more(1):
            pass
        return after.startswith("{")

    def take(self, expected: str) -> None:
        """Consume an expected character."""
        if self.peek() != expected:
            raise self._broken(f"expected {expected!r}")
        self._at += 1

    def require_end(self) -> None:
        """Check that nothing but whitespace follows: more would be rows that are lost."""
        if self.peek():
            raise self._broken("more text after the last row")

    def value(self) -> tuple[Any, bool]:
        """The next value, and whether \\u is in it."""
        wanted = 1 << 16
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._read_more(wanted):  # the value may continue
                    wanted *= 2
                    continue
                raise self._broken(error.msg.lower(), at=error.pos) from error
            except (ValueError, RecursionError) as error:
                raise unusable(error, where=f"{self._where}, line {self.line}") from error
            if end == len(self._text) and self._read_more(wanted):
                continue  # a number may continue
            taken = self._text[self._at : end]
            self.line += taken.count("\n")
            self._at = end
            return value, "\\u" in taken

    def _read_more(self, count: int) -> bool:
        rest = self._text[self._at :]
        if len(rest) > LONGEST_VALUE:
            raise DataError(
                f"a value longer than {LONGEST_VALUE:,} characters starts here.",
                where=f"{self._where}, line {self.line}",
                cure=CURE,
            )
        pieces, size = [rest], 0
        while size < count and (piece := next(self._pieces, "")):
            pieces.append(piece)
            size += len(piece)
        self._text, self._at = "".join(pieces), 0
        return size > 0

    def _broken(self, what: str, *, at: int | None = None) -> DataError:
        passed = self._text[self._at : at if at is not None else self._at]
        return DataError(
            f"invalid JSON ({what}).",
            where=f"{self._where}, line {self.line + passed.count(chr(10))}",
            cure=CURE,
        )


@source_formats.register("json")
class JsonDocument(JsonObjects):
    """An array of objects, or an object one of whose values is such an array; a row's line is where its object
    starts.
    """

    suffixes = (".json",)
    format_name = "json"
    no_rows = "contains no array of objects."
    expected = CURE

    def objects(self) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        for line, value, escaped in self._elements():
            try:
                yield value, as_values(value, where=f"{self.name}, line {line}", escaped=escaped)
            except DataError:
                yield value, None

    def read_objects(self, reading: Pass) -> Iterator[Row]:
        for line, value, escaped in self._elements():
            try:
                yield Row(
                    as_values(value, where=f"{self.name}, line {line}", escaped=escaped), self.name, line
                )
            except DataError as error:
                reading.reject(error)

    def _elements(self) -> Iterator[Element]:
        """All values. A line identifies a row, so rows that share their lines are numbered instead."""
        elements = self._read_elements()
        first = list(islice(elements, 2))
        if len({line for line, *_ in first}) == len(first):
            yield from chain(first, elements)
            return
        self.notes = self.notes or (ONE_LINE,)
        for number, (_, value, escaped) in enumerate(chain(first, elements), start=1):
            yield number, value, escaped

    def _read_elements(self) -> Iterator[Element]:
        pieces = text_blocks(self.path, encoding=self.settings.encoding, bad_rows=BadRows())
        reader = JsonReader(pieces, where=self.name)
        opening = reader.peek()
        if opening == "[":
            yield from self._array(reader)
        elif opening == "{":
            yield from self._wrapped(reader)
        elif opening:
            raise DataError("is not an array of objects.", where=self.name, cure=CURE)
        reader.require_end()

    def _array(self, reader: JsonReader) -> Iterator[Element]:
        reader.take("[")
        while reader.peek() not in ("]", ""):
            yield self._element(reader)
            if reader.peek() == ",":
                reader.take(",")
            elif reader.peek() != "]":
                reader.take("]")
        reader.take("]")

    def _wrapped(self, reader: JsonReader) -> Iterator[Element]:
        """The first array of objects among the values of an object. An object without one is a row, and so are
        those that follow it; alone, it may contain a table.
        """
        line, values = reader.line, dict[str, Any]()
        reader.take("{")
        while reader.peek() not in ("}", ""):
            key, _ = reader.value()
            reader.take(":")
            if reader.peeks_at_objects():
                yield from self._array(reader)
                self._skip_rest(reader, rows_of=str(key))
                return
            reader.peek()
            values[str(key)], _ = reader.value()
            if reader.peek() == ",":
                reader.take(",")
        reader.take("}")
        if not reader.peek():
            path, rows = nested_rows(values)
            if rows := rows or rows_of_object(values):
                self.notes = self.notes or (NESTED.format(path) if path else ONE_OBJECT,)
                yield from ((number, row, True) for number, row in enumerate(rows, start=1))
                return
        yield line, values, True
        while reader.peek() == "{":
            yield self._element(reader)

    def _skip_rest(self, reader: JsonReader, *, rows_of: str) -> None:
        """The values of an object after its rows, read because the file may end or be damaged there, or contain
        another split.
        """
        while reader.peek() == ",":
            reader.take(",")
            reader.peek()
            line, (key, _) = reader.line, reader.value()
            reader.take(":")
            if reader.peeks_at_objects():
                if {rows_of.lower(), str(key).lower()} <= SPLITS.keys():
                    raise DataError(
                        f"contains the splits '{rows_of}' and '{key}'; one file is read as one split.",
                        where=f"{self.name}, line {line}",
                        cure="Save each split to its own file: data.train=FILE data.valid=FILE data.test=FILE",
                    )
                for _ in self._array(reader):
                    pass
            else:
                reader.peek()
                reader.value()
        reader.take("}")

    def _element(self, reader: JsonReader) -> Element:
        reader.peek()
        line = reader.line
        return line, *reader.value()


def looks_like_lines(path: Path, encoding: str = "") -> bool:
    """Whether a JSON file has one object per line: the first two lines are complete objects."""
    lines = [line for line in first_lines(path, encoding) if line.strip()][:2]
    return (
        bool(lines)
        and all(_is_object(line) for line in lines)
        and not (len(lines) == 1 and _holds_rows(lines[0]))
    )


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _holds_rows(line: str) -> bool:
    value = json.loads(line)
    arrays = (cell for cell in value.values() if isinstance(cell, list) and cell)
    return (
        any(isinstance(array[0], dict) for array in arrays)
        or bool(nested_rows(value)[1])
        or bool(rows_of_object(value))
    )

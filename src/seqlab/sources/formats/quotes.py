"""Quotation marks in tables: how tab-separated files use them, and where one is not closed."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Protocol


class Reader(Protocol):
    """Splits lines into fields and counts the lines it consumed."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


class LineReader(ABC):
    """Splits every line into fields, with the interface of `csv.reader`."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._line_num = 0

    @property
    def line_num(self) -> int:
        return self._line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines).rstrip("\r\n")
        self._line_num += 1
        return self.cut(line)

    @abstractmethod
    def cut(self, line: str) -> list[str]:
        """The fields of a line; empty if it is not a row."""


class TabReader(LineReader):
    """Splits lines at tabs. Only a field that opens and closes with a quotation mark is unquoted.

    A line with more fields than the first one is split again, keeping tabs inside quotation marks, as
    spreadsheets write them.
    """

    _width = 0

    def cut(self, line: str) -> list[str]:
        if not line:
            return []
        fields = line.split("\t")
        self._width = self._width or len(fields)
        if '"' not in line:
            return fields
        quoted = quoted_fields(line) if len(fields) > self._width else []
        return quoted if len(quoted) == self._width else [unquote(field) for field in fields]


def quoted_fields(line: str) -> list[str]:
    """The fields separated by tabs outside quotation marks; empty if a quotation is not closed.

    >>> quoted_fields('"a\\tb"\\tc'), quoted_fields('"a\\tb')
    (['a\\tb', 'c'], [])
    """
    try:
        return next(csv.reader([line], delimiter="\t", strict=True))
    except csv.Error:
        return []


def unquote(field: str) -> str:
    """
    >>> [unquote(field) for field in ('"a ""b"" c"', '"so" he said', '"', '""')]
    ['a "b" c', '"so" he said', '"', '']
    """
    if len(field) < 2 or field[0] != '"' or field[-1] != '"':
        return field
    inner = field[1:-1]
    return field if '"' in inner.replace('""', "") else inner.replace('""', '"')


def where_quote_opens(lines: Iterable[str], delimiter: str) -> tuple[int, int]:
    """The line and column (both from 0) of the quotation mark that is never closed, or closes in the middle
    of a field.
    """
    opened, inside = (0, 0), False
    for number, line in enumerate(lines):
        at, at_field_start = 0, True
        while at < len(line):
            if inside:
                at = line.find('"', at) + 1 or len(line) + 1
                doubled = line[at : at + 1] == '"'
                inside = doubled or at > len(line)
                at += doubled
                if not inside and line[at : at + 1] not in (delimiter, "\r", "\n", ""):
                    return opened
                at_field_start = False
            elif at_field_start and line[at] == '"':
                opened, inside, at = (number, at), True, at + 1
            else:
                at = line.find(delimiter, at) + 1 or len(line)
                at_field_start = True
    return opened

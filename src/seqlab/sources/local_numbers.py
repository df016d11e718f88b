"""Numbers in the formats of different locales: 1.234,50 and 1,234.50."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from seqlab.sources.base import Row, Source

Decimal = Literal["", ".", ","]
WITH_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+|[-+]?\d{1,3}(\.\d{3}){2,}")
POINT_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
"""Whole numbers with points between the thousands, if the comma is the decimal separator."""
WITH_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
SYMBOLS = "€$£%\u00a0 "


def is_plain(cell: str) -> bool:
    """Whether Python can parse the number unchanged."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def decimal_of(cells: Sequence[str]) -> Decimal:
    """The decimal separator of a column of numbers; empty if the cells are plain numbers, or not numbers.

    >>> decimal_of(["12,50", "1.200,00", "7"]), decimal_of(["1,200", "85,000.50"]), decimal_of(["1.5", "2"])
    (',', '.', '')
    """
    others = [cell.strip(SYMBOLS) for cell in cells if not is_plain(cell)]
    if not others:
        return ""
    if all(WITH_THOUSANDS.fullmatch(cell) or is_plain(cell) for cell in others):
        return "."
    if sum(bool(WITH_COMMA.fullmatch(cell)) or is_plain(cell) for cell in others) < 0.8 * len(others):
        return ""
    points = sum(is_plain(cell) and not cell.strip().lstrip("+-").isdecimal() for cell in cells)
    return "," if points < 0.5 * len(cells) else ""


def plain(cell: str, decimal: Decimal) -> str:
    """The number in Python's notation; a cell that is not such a number is unchanged.

    >>> plain("1.234,50 €", ","), plain("$85,000", "."), plain("n/a", ",")
    ('1234.50', '85000', 'n/a')
    """
    bare = cell.strip(SYMBOLS)
    if decimal == "," and (WITH_COMMA.fullmatch(bare) or POINT_THOUSANDS.fullmatch(bare)):
        return bare.replace(".", "").replace(",", ".")
    if decimal and WITH_THOUSANDS.fullmatch(bare):
        return bare.replace(",", "")
    return bare if decimal and is_plain(bare) else cell


class PlainNumbers(Source):
    """The rows of a table with the numbers of some columns converted to Python's notation."""

    def __init__(self, whole: Source, columns: Sequence[str], *, decimal: Decimal) -> None:
        self.name, self.columns, self.bad_rows, self.notes = (
            whole.name,
            whole.columns,
            whole.bad_rows,
            whole.notes,
        )
        self._whole, self._numbers, self._decimal = whole, list(columns), decimal

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            changed: dict[str, Any] = {
                name: plain(cell, self._decimal)
                for name in self._numbers
                if isinstance(cell := row.values.get(name), str)
            }
            yield Row({**row.values, **changed}, row.file, row.line)

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:decimal{self._decimal}:{','.join(self._numbers)}"

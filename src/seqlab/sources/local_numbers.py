"""Numbers in the formats of different locales, 1.234,50 and 1,234.50, and with a unit: 5.4 mmol/L."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from seqlab.sources.base import Row, Source

Decimal = Literal["", ".", ","]
WITH_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+|[-+]?\d{1,3}(\.\d{3}){2,}")
POINT_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
"""Whole numbers with points between the thousands, if the comma is the decimal separator."""
WITH_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
SYMBOLS = "€$£%\u00a0 "
WITH_UNIT = re.compile(r"[-+]?\d[\d.,]*\s*([^\W\d_]\S{0,15}|[°Ω]\S{0,15})")
FEWEST_WITH_UNIT = 3
MOST_WITHOUT_UNIT = 0.1
"""Maximum fraction of cells that hold anything but a number with the unit of the column."""


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


def unit_of(cells: Sequence[str]) -> str:
    """The unit after the numbers of a column; empty if they have none or several.

    >>> unit_of(["5.4 mmol/L", "6 mmol/L", "7.25 mmol/L"]), unit_of(["5 g", "6 g", "7 mg"]), unit_of(["1", "2", "3"])
    ('mmol/L', '', '')
    """
    units = Counter(
        match[1] for cell in cells if not is_plain(cell) and (match := WITH_UNIT.fullmatch(cell.strip()))
    )
    unit, count = next(iter(units.most_common(1)), ("", 0))
    num_plain = sum(map(is_plain, cells)) if count >= FEWEST_WITH_UNIT else 0
    fits = count >= FEWEST_WITH_UNIT and count + num_plain >= (1 - MOST_WITHOUT_UNIT) * len(cells)
    return unit if fits else ""


def without_unit(cell: str, units: Sequence[str]) -> str:
    """
    >>> without_unit("113.5 °C", ["°C"]), without_unit("236 °F", ["°C"])
    ('113.5', '236 °F')
    """
    match = WITH_UNIT.fullmatch(cell.strip()) if units else None
    return cell.strip().removesuffix(match[1]).rstrip() if match and match[1] in units else cell


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
    """The rows of a table with the numbers of some columns converted to Python's notation. units: removed after the
    numbers."""

    def __init__(
        self, whole: Source, columns: Sequence[str], *, decimal: Decimal, units: Sequence[str] = ()
    ) -> None:
        self.name, self.columns, self.bad_rows, self.notes = (
            whole.name,
            whole.columns,
            whole.bad_rows,
            whole.notes,
        )
        self._whole, self._numbers, self._decimal, self._units = whole, list(columns), decimal, units

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            changed: dict[str, Any] = {
                name: plain(without_unit(cell, self._units), self._decimal)
                for name in self._numbers
                if isinstance(cell := row.values.get(name), str)
            }
            yield Row({**row.values, **changed}, row.file, row.line)

    def fingerprint(self) -> str:
        units = f":units{','.join(self._units)}" if self._units else ""
        return f"{self._whole.fingerprint()}:decimal{self._decimal}:{','.join(self._numbers)}{units}"

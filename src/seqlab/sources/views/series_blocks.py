"""The rows of a table with one row per time -> the observations of each series, in the order of time."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqlab.core.errors import DataError, shortened
from seqlab.sources.bad_rows import EmptyCell, Pass
from seqlab.sources.base import Row, Source, is_empty, place_of, require_columns
from seqlab.sources.series_columns import SeriesColumns
from seqlab.sources.splitting import cell_text
from seqlab.sources.timestamps import TimeFormat
from seqlab.sources.views.series import NO_NUMBER, number

SKIP = "or skip such rows with data.bad_rows=skip."
BETWEEN = " / "
"""Between the parts of a name."""


@dataclass(eq=False)
class Block:
    """The observations of one series."""

    name: str
    file: str
    times: Int[np.ndarray, " rows"]
    values: Float[np.ndarray, "rows columns"]
    lines: Int[np.ndarray, " rows"]
    static: dict[str, Any] = field(default_factory=dict)


class _Open:
    """A series that is being read."""

    def __init__(self, name: str, row: Row, columns: SeriesColumns) -> None:
        self.name, self._file, self._columns = name, row.file, columns
        self.times, self.values, self.lines = array("q"), array("d"), array("q")
        self._static = {column: static_value(row, column) for column in columns.static}

    def add(self, row: Row, time: int, values: list[float]) -> None:
        for column, first in self._static.items():
            if (cell := static_value(row, column)) != first:
                raise DataError(
                    f"column '{column}' changes from {first!r} to {cell!r} within one series.",
                    where=row.where,
                    cure=f"Remove it from data.static, {SKIP}",
                )
        self.times.append(time)
        self.values.extend(values)
        self.lines.append(row.line)

    def close(self, reading: Pass) -> tuple[Block, int]:
        """The observations in the order of time, and the number of repeated rows that were dropped."""
        times, lines = np.array(self.times, np.int64), np.array(self.lines, np.int64)
        values = np.array(self.values, np.float64).reshape(len(times), len(self._columns.numbers))
        if not (np.diff(times) > 0).all():
            order = np.argsort(times, kind="stable")
            times, values, lines = times[order], values[order], lines[order]
        kept, num_repeated = self._distinct(times, values, lines, reading)
        return Block(
            self.name, self._file, times[kept], values[kept], lines[kept], self._static
        ), num_repeated

    def _distinct(
        self, times: np.ndarray, values: np.ndarray, lines: np.ndarray, reading: Pass
    ) -> tuple[np.ndarray, int]:
        """The first row of every time; another one must have the same values."""
        kept = np.ones(len(times), bool)
        kept[1:] = np.diff(times) > 0
        num_repeated, first = 0, 0
        for at in np.flatnonzero(~kept).tolist():
            first = first if times[first] == times[at] else int(np.searchsorted(times, times[at]))
            if np.array_equal(values[first], values[at], equal_nan=True):
                num_repeated += 1
            else:
                reading.reject(self._conflict(values[first], values[at], int(lines[first]), int(lines[at])))
        return kept, num_repeated

    def _conflict(self, first: np.ndarray, other: np.ndarray, line: int, other_line: int) -> DataError:
        differs = ~((first == other) | (np.isnan(first) & np.isnan(other)))
        at = int(np.argmax(differs))
        of = f" of series '{self.name}'" if self.name else ""
        return DataError(
            f"the time{of} is also that of line {line}, with another '{self._columns.numbers[at]}'"
            f" ({first[at]:g} there, {other[at]:g} here).",
            where=place_of(self._file, other_line),
            cure="Fix the rows (times are read to the second), set data.sequence=NAME if they belong to different series, "
            + SKIP,
        )


@dataclass
class BlockFacts:
    """What was found while all rows were read."""

    num_rows: int = 0
    num_repeated: int = 0
    is_scattered: bool = False
    """Whether rows of a series stand between those of others."""
    num_empty: int = 0
    """Series without any target."""
    first_empty: str = ""

    def note_empty(self, block: Block, num_targets: int) -> None:
        """Count a series without any target."""
        if not np.isfinite(block.values[:, :num_targets]).any():
            self.first_empty = self.first_empty or block.name
            self.num_empty += 1


class BlockReader:
    """Reads a table series by series, or, where rows of several series alternate, as a whole."""

    def __init__(self, table: Source, columns: SeriesColumns, times: TimeFormat | None) -> None:
        require_columns(table, [*columns.time, *columns.sequence, *columns.numbers, *columns.static])
        self._table, self._columns, self._times = table, columns, times

    def blocks(self, facts: BlockFacts) -> Iterator[Block]:
        """One block per series. `facts` is complete when all are read.

        If `facts.is_scattered`, all rows are kept in memory until the end of the file.
        """
        reading = Pass(self._table.bad_rows, counts_rows=True)
        facts.num_rows = facts.num_repeated = facts.num_empty = 0
        closed: set[str] = set()
        opened: dict[str, _Open] = {}
        positions: dict[str, Iterator[int]] = {}
        for row in self._table.rows():
            try:
                name = self._name(row)
                if name not in opened:
                    if opened and not facts.is_scattered:
                        closed |= opened.keys()
                        yield self._close(opened.popitem()[1], facts, reading)
                    if name in closed:
                        facts.is_scattered = True
                        return
                    opened[name] = _Open(name, row, self._columns)
                time = next(positions.setdefault(name, count())) if self._times is None else self._time(row)
                opened[name].add(row, time, [number_or_nan(row, column) for column in self._columns.numbers])
            except DataError as error:
                reading.reject(error)
            else:
                facts.num_rows += 1
        for series in opened.values():
            yield self._close(series, facts, reading)
        reading.require_few(facts.num_rows)

    def _close(self, series: _Open, facts: BlockFacts, reading: Pass) -> Block:
        before = reading.skipped
        block, num_repeated = series.close(reading)
        facts.num_repeated += num_repeated
        facts.num_rows -= reading.skipped - before
        return block

    def _name(self, row: Row) -> str:
        return BETWEEN.join(cell_text(row.values.get(column)).strip() for column in self._columns.sequence)

    def _time(self, row: Row) -> int:
        cell = self._columns.time_cell(row)
        where = f"{row.where}, column '{', '.join(self._columns.time)}'"
        if is_empty(cell):
            raise EmptyCell("the time is missing.", where=where, cure=f"Fill it in, {SKIP}")
        assert self._times is not None
        try:
            return self._times.read(cell)
        except (ValueError, OverflowError) as error:
            order = self._times.order
            rule = f" ({order} first; data.date_order changes that)" if order else ""
            raise DataError(
                f"'{shortened(str(cell), 40)}' cannot be read as a time{rule}.",
                where=where,
                cure=f"Write 2024-01-31 or 2024-01-31 10:00, {SKIP}",
            ) from error


def number_or_nan(row: Row, column: str) -> float:
    """The number in a cell, NaN for a missing one; DataError for anything else."""
    cell = row.values.get(column)
    if type(cell) is str:
        try:
            value = float(cell)
            if math.isfinite(value) and "_" not in cell:
                return value
        except ValueError:
            pass
    if is_empty(cell) or str(cell).strip().lower() in (*NO_NUMBER, "nan", "<na>"):
        return math.nan
    try:
        return number(row, column)
    except DataError as error:
        raise DataError(
            error.what, where=error.where, cure=f"Fix it, leave the column out, {SKIP}"
        ) from error


def static_value(row: Row, column: str) -> Any:
    """A number or a text."""
    cell = row.values.get(column)
    text = "" if is_empty(cell) else cell_text(cell).strip()
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) and "_" not in text else text

"""Numeric series in a table with one row per step -> one row per sequence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS, Row, Source, require_columns
from seqlab.sources.splitting import cell_text

NO_NUMBER = ("", "na", "n/a", "none", "null", "-", "?")


class Series(Source):
    """Groups the rows of a table by their sequence column.

    A row's values are {"steps": one list of numbers per step, label: its class, sequence: its name}; its line
    is that of the first step. The steps of a sequence must be consecutive, so that only one sequence is in memory at a
    time.
    """

    def __init__(
        self, table: Source, *, sequence: str, label: str = "", features: Sequence[str] = ()
    ) -> None:
        require_columns(table, [sequence, label, *features])
        self.table = table
        self.name = table.name
        self.bad_rows = table.bad_rows
        self.features = list(features) or [name for name in table.columns if name not in (sequence, label)]
        if not self.features:
            raise no_features(self.name)
        self.columns = [STEPS, *([label] if label else []), sequence]
        self._sequence, self._label = sequence, label

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        seen: dict[str, int] = {}
        for name, group in groupby(
            self.table.rows(), key=lambda row: cell_text(row.values.get(self._sequence))
        ):
            steps = list(group)
            if name in seen:
                raise self._scattered(name, steps[0], before=seen[name])
            seen[name] = steps[-1].line
            try:
                row = self._join(steps)
            except DataError as error:
                reading.reject(error)  # one bad step makes the whole sequence unusable
            else:
                yield row

    def fingerprint(self) -> str:
        return f"series:{self.table.fingerprint()}:{self._sequence}:{self._label}:{','.join(self.features)}"

    def _join(self, steps: list[Row]) -> Row:
        first = steps[0]
        if self._label:
            self._check_label(steps)
        values: dict[str, Any] = {STEPS: [[number(row, name) for name in self.features] for row in steps]}
        values |= {name: first.values[name] for name in self.columns if name != STEPS}
        return Row(values, first.file, first.line)

    def _check_label(self, steps: list[Row]) -> None:
        first = steps[0].values[self._label]
        for row in steps:
            if row.values[self._label] != first:
                what = (
                    f"column '{self._label}' changes from {first!r} to {row.values[self._label]!r} within one"
                    " sequence."
                )
                raise DataError(
                    what,
                    where=row.where,
                    cure="Each sequence must have one label. Is data.sequence the right column?",
                )

    def _scattered(self, name: str, row: Row, *, before: int) -> DataError:
        what = (
            f"sequence '{name}' continues here after rows of other sequences (its last row was line"
            f" {before})."
        )
        return DataError(
            what,
            where=row.where,
            cure=f"Sort the file by '{self._sequence}', so that the steps of each sequence are consecutive.",
        )


def no_features(where: str) -> DataError:
    return DataError(
        "no column is left for the numeric values of a step.",
        where=where,
        cure="Name them with data.features=NAME,NAME.",
    )


def number(row: Row, column: str) -> float:
    """A finite number from a cell, strictly: no missing values, no NaN, no thousands separators."""
    cell = row.values.get(column)
    try:
        if isinstance(cell, str) and "_" in cell:
            raise ValueError(cell)  # Python would read 1_000 as a number
        value = float(cell)  # type: ignore[arg-type]  # whatever it is, float says so
    except (TypeError, ValueError, OverflowError) as error:
        raise _not_a_number(row, column, cell) from error
    if not math.isfinite(value) or isinstance(cell, bool):
        raise _not_a_number(row, column, cell)
    return value


def _not_a_number(row: Row, column: str, cell: object) -> DataError:
    is_gap = cell is None or str(cell).strip().lower() in NO_NUMBER
    value_text = (
        "the cell is empty"
        if cell is None or not str(cell).strip()
        else f"'{str(cell)[:40]}' is {'a missing value' if is_gap else 'not a finite number'}"
    )
    cure = (
        "Fill in the value, or skip the sequence with data.bad_rows=skip."
        if is_gap
        else "Fix it, exclude the column with data.features, or skip the sequence with data.bad_rows=skip."
    )
    return DataError(f"{value_text}.", where=f"{row.where}, column '{column}'", cure=cure)

"""Several binary columns as one list of labels: `toxic`, `insult` and `threat`, each with 0 or 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seqlab.core.errors import DataError, shortened
from seqlab.sources.base import Row, Source, require_columns
from seqlab.sources.splitting import cell_text

FLAGS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
"""Allowed cell values, case-insensitive."""


class FlagColumns(Source):
    """Adds a column with the names of the columns whose cell is set."""

    def __init__(self, whole: Source, flags: Sequence[str], *, name: str) -> None:
        require_columns(whole, flags)
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [*whole.columns, name]
        self._whole, self._flags, self._labels = whole, list(flags), name

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                labels = [flag for flag in self._flags if is_set(row, flag)]
            except DataError as error:
                reading.reject(error)
            else:
                yield Row({**row.values, self._labels: labels}, row.file, row.line)

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:flags:{self._flags}"


def is_set(row: Row, column: str) -> bool:
    """Whether the cell is set; raises DataError if it is neither yes nor no."""
    cell = cell_text(row.values.get(column)).strip()
    try:
        return FLAGS[cell.lower()]
    except KeyError:
        raise DataError(
            f"column '{column}' contains '{shortened(cell, 40)}', expected 0 or 1.",
            where=row.where,
            cure="Fix the row, skip such rows with data.bad_rows=skip, or choose other columns with"
            " data.label=NAME,NAME",
        ) from None

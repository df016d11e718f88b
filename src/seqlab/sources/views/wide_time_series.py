"""A table with one series per row and one column per step, as in the M4 competition -> one row per series.

"V1","V2","V3","V4"
"H1","605","586","586"
"H2","3124","2990",""
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import Pass
from seqlab.sources.base import Row, Source, require_columns
from seqlab.sources.frequency import Frequency, Grid
from seqlab.sources.season import find_season
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import cell_text
from seqlab.sources.views.joined_columns import names_of
from seqlab.sources.views.series_blocks import BETWEEN, SKIP, number_or_nan, static_value
from seqlab.sources.views.time_series import (
    COLUMNS,
    MOST_KEPT,
    TimeSeriesSource,
    digest_of_reading,
    targets_of,
)


class WideTimeSeries(TimeSeriesSource):
    """Every row as a series of numbers. Empty cells at its end are not steps, others are missing values.

    The steps are the columns that have no other role, so that a file with the next values may have fewer of them.
    """

    target_names = ("value",)
    feature_names = known_names = ()
    has_times = False
    grid = Grid(Frequency(1, is_clock=False))

    def __init__(self, table: Source, data: DataSettings) -> None:
        self.name, self.bad_rows, self.columns = table.name, table.bad_rows, list(COLUMNS)
        self._table = table
        self._kept: list[Row] = []
        self._sequence = names_of(data.sequence, table.columns) if data.sequence else []
        self._static = list(data.static)
        require_columns(table, [*self._sequence, *self._static, *data.features])
        others = {*self._sequence, *self._static}
        self.steps = [name for name in table.columns if name not in others]
        if data.features:  # from the first to the last one that the table has
            self.steps = [name for name in data.features if name in self.steps]

    def rows(self) -> Iterator[Row]:
        if self._kept:
            yield from self._kept
            return
        kept, size = list[Row](), 0
        for row in self._read():
            size += len(row.values["times"])
            if size <= MOST_KEPT:
                kept.append(row)
            yield row
        self._kept = kept if size <= MOST_KEPT else []

    def _read(self) -> Iterator[Row]:
        reading = Pass(self.bad_rows, counts_rows=True)
        seen: dict[str, int] = {}
        for row in self._table.rows():
            try:
                series = self._series(row)
                self._check_new(series, seen)
            except DataError as error:
                reading.reject(error)
            else:
                seen[series.values["series"]] = row.line
                yield series
        reading.require_few(len(seen))

    def _check_new(self, row: Row, seen: dict[str, int]) -> None:
        if (name := row.values["series"]) in seen:
            raise DataError(
                f"series '{name}' is also in line {seen[name]}.",
                where=row.where,
                cure=f"Rename one of them, {SKIP}",
            )

    def fingerprint(self) -> str:
        return digest_of_reading("wide_time_series", self._table, self._sequence, self._static, self.steps)

    @cached_property
    def season(self) -> int:
        return find_season(targets_of(self))

    def _series(self, row: Row) -> Row:
        numbers = np.array([number_or_nan(row, name) for name in self.steps], np.float64)
        known = np.flatnonzero(np.isfinite(numbers))
        if not len(known):
            raise DataError("the series has no values.", where=row.where, cure=f"Remove it, {SKIP}")
        values = numbers[known[0] : known[-1] + 1, None]
        name = BETWEEN.join(cell_text(row.values.get(column)).strip() for column in self._sequence)
        content = {
            "series": name if self._sequence else f"line {row.line}",
            "times": np.arange(len(values)),
            "targets": values,
            "features": np.zeros((len(values), 0)),
            "known": np.zeros((len(values), 0)),
            "static": {column: static_value(row, column) for column in self._static},
            "start": 0,
            "lines": np.full(len(values), row.line, np.int64),
        }
        return Row(content, row.file, row.line)

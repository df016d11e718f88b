"""A table with one row per time -> one row per series, on a regular grid of times.

The values of a row:

    series      its name; empty in a table with one series
    times       datetime64[s] (steps,), or whole numbers
    targets     float64 (steps, targets), NaN where a value is missing; features likewise
    known       float64 (steps or more, columns): may go on after the last target
    static      the values of the static columns by name
    start       the steps before it are history: only later ones belong to the part
    lines       int64 (steps,): where each step is in the file, 0 if it has no row
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.frequency import Frequency, Grid, StepCounts
from seqlab.sources.season import find_season
from seqlab.sources.series_columns import SeriesColumns
from seqlab.sources.settings import DataSettings, DateOrder
from seqlab.sources.timestamps import TimeFormat, find_time_format
from seqlab.sources.views.series_blocks import Block, BlockFacts, BlockReader
from seqlab.sources.views.series_findings import describe_times

COLUMNS = ["series", "times", "targets", "features", "known", "static", "start", "lines"]
SAMPLE = 1000
MOST_KEPT = 4_000_000
"""Numbers that are kept in memory (32 MB); larger tables are read again on every pass."""
SPARSEST = 20
"""Most steps of the grid per row of the table."""


class TimeSeriesSource(Source):
    """Rows of series; the columns are those above."""

    grid: Grid
    target_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    known_names: tuple[str, ...]

    @property
    def frequency(self) -> Frequency:
        return self.grid.frequency

    @property
    @abstractmethod
    def season(self) -> int:
        """The steps after which a pattern repeats; 1 if there is none."""

    @property
    @abstractmethod
    def has_times(self) -> bool:
        """Whether all series share one clock. Otherwise, steps are only counted within a series."""

    def findings(self) -> list[str]:
        """What deserves to be said about the times of the whole table."""
        return []


def targets_of(source: TimeSeriesSource) -> Iterator[Any]:
    """The targets of every series, one column after the other."""
    return (column for row in source.rows() for column in row.values["targets"].T)


@dataclass(eq=False)
class _Scan:
    """The facts of the whole table."""

    facts: BlockFacts
    steps: StepCounts
    grid: Grid
    kept: list[Block] | None


class TimeSeries(TimeSeriesSource):
    """Groups a table by series and time. Rows may be in any order."""

    def __init__(self, table: Source, data: DataSettings, *, grid: Grid | None = None) -> None:
        """grid: that of the file which this one continues."""
        self.name, self.bad_rows, self.columns = table.name, table.bad_rows, list(COLUMNS)
        self._data, self._given_grid = data, grid
        self._table, self._columns = table, SeriesColumns.of(data, table.columns)
        self._order: DateOrder = data.date_order
        self.target_names, self.feature_names = self._columns.targets, self._columns.features
        self.known_names = self._columns.known

    def rows(self) -> Iterator[Row]:
        scan = self._scan
        blocks = self._reader.blocks(BlockFacts()) if scan.kept is None else scan.kept
        for block in blocks:
            if (row := self._row(block)) is not None:
                yield row

    def fingerprint(self) -> str:
        return digest_of_reading("time_series", self._table, self._columns, self._order, self.grid)

    @property
    def grid(self) -> Grid:  # type: ignore[override]
        return self._given_grid or self._scan.grid

    @cached_property
    def season(self) -> int:
        return self.frequency.season if self.frequency.is_clock else find_season(targets_of(self))

    @property
    def has_times(self) -> bool:
        return bool(self._columns.time)

    def on_grid(self, grid: Grid) -> TimeSeries:
        """The same series on the grid of another file."""
        return TimeSeries(self._table, self._data, grid=grid)

    def findings(self) -> list[str]:
        sentences = describe_times(self._scan.facts, self._scan.steps)
        return [f"{self.name}: {sentence}" for sentence in sentences]

    @cached_property
    def time_format(self) -> TimeFormat | None:
        """How times are read; None if rows are only in order."""
        if not self._columns.time:
            return None
        cells = [self._columns.time_cell(row) for row in islice(self._table.rows(), SAMPLE)]
        name = " ".join(self._columns.time)
        found = find_time_format(cells, name=name)
        if found is None:
            example = next((str(cell) for cell in cells if cell is not None and str(cell).strip()), "")
            raise DataError(
                f"column '{name}' does not hold times such as 2024-01-31 ('{example[:40]}').",
                where=self.name,
                cure="Set the column with data.time=NAME",
            )
        return TimeFormat("numeric", self._order or "month") if found.kind == "numeric" else found

    @cached_property
    def _reader(self) -> BlockReader:
        return BlockReader(self._table, self._columns, self.time_format)

    @cached_property
    def _scan(self) -> _Scan:
        facts = BlockFacts()
        scan = self._scan_once(facts) or self._scan_once(facts)  # scattered rows are read as a whole
        assert scan is not None
        return scan

    def _scan_once(self, facts: BlockFacts) -> _Scan | None:
        """Read all rows; None if that has to be repeated because rows of a series are scattered."""
        was_scattered = facts.is_scattered
        form = self.time_format
        steps = StepCounts(is_clock=form is not None and form.is_clock)
        kept, size = list[Block](), 0
        for block in self._reader.blocks(facts):
            steps.add(block.times)
            facts.note_empty(block, len(self._columns.targets))
            size += block.values.size + 2 * len(block.times)
            if was_scattered or size <= MOST_KEPT:
                kept.append(block)
            else:
                kept.clear()
        if facts.is_scattered and not was_scattered:
            return None
        return _Scan(facts, steps, steps.grid, kept if was_scattered or size <= MOST_KEPT else None)

    def _row(self, block: Block) -> Row | None:
        """The series on the grid; None if it has no value to forecast."""
        numbers = self.grid.number(block.times)
        num_targets, num_features = len(self._columns.targets), len(self._columns.features)
        has_target = np.isfinite(block.values[:, :num_targets]).any(axis=1)
        if not has_target.any():
            return None
        numbers = numbers[(first := int(np.argmax(has_target))) :]
        num_steps = int(numbers[-1] - numbers[0]) + 1
        if num_steps > SPARSEST * len(numbers) + SAMPLE:
            raise self._too_sparse(block, num_steps)
        places = numbers - numbers[0]
        values = np.full((num_steps, block.values.shape[1]), np.nan)
        values[places] = block.values[first:]
        lines = np.zeros(num_steps, np.int64)
        lines[places] = block.lines[first:]
        length = int(places[np.flatnonzero(has_target[first:])[-1]]) + 1
        content: dict[str, Any] = {
            "series": block.name,
            "times": self.grid.times(numbers[0] + np.arange(length)),
            "targets": values[:length, :num_targets],
            "features": values[:length, num_targets : num_targets + num_features],
            "known": values[:, num_targets + num_features :],
            "static": block.static,
            "start": 0,
            "lines": lines[:length],
        }
        return Row(content, block.file, int(block.lines[first]))

    def _too_sparse(self, block: Block, num_steps: int) -> DataError:
        of = f" of series '{block.name}'" if block.name else ""
        return DataError(
            f"its times are too irregular: {self.frequency.name} (the most common step), the {len(block.times):,} rows{of} "
            f"would be {num_steps:,} steps.",
            where=self.name,
            cure="Aggregate the rows to regular times first, or set data.sequence=NAME if they belong to several series.",
        )


def digest_of_reading(name: str, table: Source, *how: object) -> str:
    """Return a short fingerprint of a table and of how its series are read: its parts would fill a page."""
    parts = hashlib.sha256("\n".join(map(repr, (table.fingerprint(), *how))).encode())
    return f"{name}:{parts.hexdigest()[:32]}"

"""Opens small tables of series as a task that forecasts does, without the task."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from seqlab.sources.base import Source
from seqlab.sources.local_numbers import PlainNumbers, decimal_of
from seqlab.sources.open_source import open_source
from seqlab.sources.opened_data import OpenedData
from seqlab.sources.roles.series_settings import find_series_columns
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.open_series import hold_out_in_time, join_in_time, open_series
from seqlab.sources.views.time_series import TimeSeriesSource


def write(folder: Path, name: str, *lines: str) -> Path:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def read(path: Path, **settings: Any) -> tuple[TimeSeriesSource, list[str]]:
    """The series of a file, and what is said about its columns."""
    data = DataSettings(train=str(path), **settings)
    table = open_source(path, data)
    data, reasons = find_series_columns(table, data)
    if data.target:
        names = [*data.target.split(","), *data.features, *data.known]
        cells = [str(row.values[name]) for row in table.rows() for name in names if row.values[name]]
        table = PlainNumbers(table, names, decimal=decimal_of(cells)) if decimal_of(cells) else table
    return open_series(table, data), reasons


def values_of(source: Source) -> dict[str, dict[str, Any]]:
    """The values of the rows by the name of the series."""
    return {row.values["series"]: row.values for row in source.rows()}


def splits(
    train: Path, *, valid: Path | None = None, test: Path | None = None, **settings: Any
) -> OpenedData:
    """The splits of a training file, and of files for later ones."""
    data = DataSettings(train=str(train), **settings)
    table = open_source(train, data)
    data, _ = find_series_columns(table, data)
    parts = {"train": open_series(table, data)}
    for name, path in (("valid", valid), ("test", test)):
        if path is not None:
            parts[name] = open_series(open_source(path, data), data)
    return hold_out_in_time(join_in_time(OpenedData(data, dict(parts), [])))


def part_of(opened: OpenedData, name: str) -> TimeSeriesSource:
    return cast("TimeSeriesSource", opened.parts[name])


def days(count: int, first: str = "2024-01-01") -> list[str]:
    return [str(day) for day in np.datetime64(first) + np.arange(count)]

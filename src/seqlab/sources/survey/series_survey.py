"""What a split of series contains: lengths, times, missing values, constant series, values far from all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from jaxtyping import Bool, Float

from seqlab.core.errors import listed
from seqlab.sources.base import Row
from seqlab.sources.views.row_of_series import place_of_step, time_text
from seqlab.sources.views.time_series import TimeSeriesSource

SHOWN = 3
FARTHEST = 20.0
"""Values farther from the median than this many (normal-consistent) median absolute deviations are reported."""
TO_DEVIATION = 1.4826
"""The standard deviation of a normal distribution in median absolute deviations."""
MOST_OUTLIERS = 0.01
"""If a larger fraction of a column is that far from its median, it has long tails rather than errors."""
FEWEST_VALUES = 20

Values = Float[np.ndarray, " steps"]


@dataclass
class ColumnSurvey:
    """One column of a split."""

    missing: int = 0
    outliers: int = 0
    first_outliers: list[str] = field(default_factory=list)
    median: float = 0.0
    """Of the first series with an outlier."""


@dataclass
class SeriesSurvey:
    """The series of a split, without the history before it."""

    num_series: int = 0
    num_steps: int = 0
    shortest: int = 0
    longest: int = 0
    first_time: str = ""
    last_time: str = ""
    frequency: str = ""
    season: int = 1
    constant: int = 0
    first_constant: list[str] = field(default_factory=list)
    columns: dict[str, ColumnSurvey] = field(default_factory=dict)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        columns = {name: ColumnSurvey(**column) for name, column in plain["columns"].items()}
        return cls(**{**plain, "columns": columns})

    def sentences(self) -> list[str]:
        """What the split contains."""
        lengths = (
            f"{self.shortest:,}"
            if self.shortest == self.longest
            else f"{self.shortest:,} to {self.longest:,}"
        )
        times = f", {self.first_time} to {self.last_time}" if self.first_time else ""
        season = f", season of {self.season} steps" if self.season > 1 else ""
        missing = [f"{name} {column.missing:,}" for name, column in self.columns.items() if column.missing]
        return [
            f"{self.num_steps:,} steps, {lengths} per series{times}; {self.frequency}{season}",
            *([f"missing values: {listed(missing)}"] if missing else []),
        ]

    def warnings(self) -> Iterator[str]:
        """What could invalidate a score, or spoil a forecast."""
        for name, column in self.columns.items():
            if column.outliers:
                yield (
                    f"{column.outliers:,} value{'' if column.outliers == 1 else 's'} of '{name}' far from all others"
                    f" (median {column.median:g}): {'; '.join(column.first_outliers)}. Correct or delete them if they are"
                    " errors"
                )
        if self.constant:
            yield f"{self.constant:,} constant series, the first: {listed(self.first_constant)}"


def survey_series(source: TimeSeriesSource) -> SeriesSurvey:
    """Read every series once."""
    found = SeriesSurvey(frequency=source.frequency.name, season=source.season)
    names = {
        "targets": source.target_names,
        "features": source.feature_names,
        "known": source.known_names,
    }
    found.columns = {name: ColumnSurvey() for group in names.values() for name in group}
    first, last = [], []
    for row in source.rows():
        _count(found, row)
        for key, columns in names.items():
            for number, name in enumerate(columns):
                _look_at(found.columns[name], row, row.values[key][: len(row.values["times"]), number])
        first.append(row.values["times"][row.values["start"]])
        last.append(row.values["times"][-1])
    if first and source.has_times:
        found.first_time, found.last_time = time_text(min(first)), time_text(max(last))
    return found


def _count(found: SeriesSurvey, row: Row) -> None:
    length = len(row.values["times"]) - row.values["start"]
    found.shortest = min(found.shortest, length) if found.num_series else length
    found.longest = max(found.longest, length)
    found.num_series += 1
    found.num_steps += length
    targets = row.values["targets"]
    if length > 1 and (np.nanmax(targets, axis=0) == np.nanmin(targets, axis=0)).all():
        found.constant += 1
        found.first_constant += [row.values["series"] or row.file][
            : max(0, SHOWN - len(found.first_constant))
        ]


def _look_at(column: ColumnSurvey, row: Row, values: Values) -> None:
    """Count what is missing or far off in the steps of the split; the history helps to know what is usual."""
    start = row.values["start"]
    column.missing += int(np.isnan(values[start:]).sum())
    steps = [step for step in np.flatnonzero(far_off(values)).tolist() if step >= start]
    if not steps:
        return
    median = float(np.nanmedian(values))
    column.median = column.median if column.outliers else median
    column.outliers += len(steps)
    worst = sorted(steps, key=lambda step: -abs(values[step] - median))
    free = SHOWN - len(column.first_outliers)
    column.first_outliers += [
        f"{values[step]:g} at {place_of_step(row, step)}" for step in worst[: max(free, 0)]
    ]


def far_off(values: Values) -> Bool[np.ndarray, " steps"]:
    """The values that are much farther from the median than is usual in the series.

    >>> usual = np.tile([1011.0, 1013.0, 1016.0, 1010.0], 50)
    >>> np.flatnonzero(far_off(np.append(usual, [59.0, 7679.0, np.nan]))).tolist()
    [200, 201]
    """
    none: Bool[np.ndarray, " steps"] = np.zeros(len(values), bool)
    known = values[np.isfinite(values)]
    if len(known) < FEWEST_VALUES:
        return none
    distance = np.abs(values - np.median(known))
    usual = TO_DEVIATION * float(np.nanmedian(distance))
    far: Bool[np.ndarray, " steps"] = distance > FARTHEST * usual
    return far if usual > 0 and far.sum() <= max(SHOWN, MOST_OUTLIERS * len(known)) else none

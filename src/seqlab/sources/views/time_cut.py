"""Hold out the end of series: all of them are cut at the same moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seqlab.core.errors import DataError, shortened
from seqlab.sources.base import Row
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.row_of_series import num_steps, steps_until, time_text
from seqlab.sources.views.time_series import TimeSeriesSource

FEWEST_TRAINING = 1
"""Steps that training needs besides one horizon."""


class SeriesView(TimeSeriesSource):
    """Other rows of a source of series."""

    def __init__(self, whole: TimeSeriesSource, *, name: str = "") -> None:
        self.whole, self.columns, self.bad_rows = whole, whole.columns, whole.bad_rows
        self.name = f"{whole.name} ({name})" if name else whole.name
        self.grid, self.target_names = whole.grid, whole.target_names
        self.feature_names, self.known_names = whole.feature_names, whole.known_names

    @property
    def season(self) -> int:
        return self.whole.season

    @property
    def has_times(self) -> bool:
        return self.whole.has_times


@dataclass(frozen=True)
class Range:
    """The steps of a table: on the common clock, or, where series have none, those of the median series."""

    first: int
    length: int
    is_common: bool


def range_of(source: TimeSeriesSource) -> Range:
    """Read all series for their range."""
    spans = [_span(source, row) for row in source.rows()]
    if not spans:
        raise DataError(
            "no series has a value to forecast.",
            where=source.name,
            cure="Set the column with data.target=NAME",
        )
    if not source.has_times:
        return Range(0, int(np.median([stop - start for start, stop in spans])), is_common=False)
    first = min(start for start, _ in spans)
    return Range(first, max(stop for _, stop in spans) - first, is_common=True)


def _span(source: TimeSeriesSource, row: Row) -> tuple[int, int]:
    first = int(source.grid.number_of(row.values["times"][:1])[0])
    return first, first + num_steps(row)


@dataclass(frozen=True)
class Cut:
    """The held-out steps begin at `start` and end before `stop`.

    Both count from the first step of the common clock, or, negatively, from the end of each series.
    """

    start: int
    stop: int
    train_stop: int
    """Where training ends: a series without an earlier step is in no part."""

    def steps(self, source: TimeSeriesSource, row: Row) -> tuple[int, int]:
        """The steps of a row; none if the second is not larger."""
        length = num_steps(row)
        if not source.has_times:
            start, stop, train_stop = (length + at for at in (self.start, self.stop, self.train_stop))
            return (max(start, 0), stop) if train_stop > 0 else (0, 0)
        first, _ = _span(source, row)
        start, stop = max(self.start - first, 0), min(self.stop - first, length)
        return (start, stop) if self.train_stop > first else (0, 0)


class TimePart(SeriesView):
    """The steps of one split; those before it are history."""

    def __init__(self, whole: TimeSeriesSource, cut: Cut, *, name: str, is_last: bool = False) -> None:
        super().__init__(whole, name=name)
        self.cut, self._is_last = cut, is_last

    def rows(self) -> Iterator[Row]:
        for row in self.whole.rows():
            start, stop = self.cut.steps(self.whole, row)
            if stop > start:
                yield steps_until(row, stop, start=start, keeps_known=self._is_last)

    def fingerprint(self) -> str:
        return f"{self.whole.fingerprint()}:{self.cut}:{self._is_last}"


def cut_in_time(
    source: TimeSeriesSource, data: DataSettings, shares: dict[str, float]
) -> tuple[dict[str, TimeSeriesSource], list[str]]:
    """Training data, and the parts that are held out from its end, each at least one horizon long; with the reasons.

    shares: of valid and test, 0 for those that are not held out.
    """
    steps = range_of(source)
    sizes = {
        name: max(round(share * steps.length), data.horizon) if share else 0 for name, share in shares.items()
    }
    rest = steps.length - sum(sizes.values())
    if rest < data.horizon + FEWEST_TRAINING:
        raise _too_short(source, data, steps, sizes)
    end = steps.first + steps.length if steps.is_common else 0
    test, valid = end - sizes["test"], end - sizes["test"] - sizes["valid"]
    begin = steps.first if steps.is_common else -(2**62)
    parts: dict[str, TimeSeriesSource] = {
        "train": TimePart(source, Cut(begin, valid, valid), name="train", is_last=valid == end)
    }
    for name, start, stop in (("valid", valid, test), ("test", test, end)):
        if sizes[name]:
            cut = Cut(start, stop, valid)
            parts[name] = TimePart(source, cut, name=f"held out for {name}", is_last=stop == end)
    held = [_about(source, parts[name], name, sizes[name]) for name in ("valid", "test") if sizes[name]]
    late = sum(not _has_training(source, row, valid) for row in source.rows())
    reasons = [
        f"held out in time: {' and '.join(held)}; set data.valid=FILE data.test=FILE to use other data"
    ]
    if late:
        reasons.append(f"{late:,} series begin after the end of the training data and are left out")
    return parts, reasons


def _has_training(source: TimeSeriesSource, row: Row, train_stop: int) -> bool:
    first, stop = _span(source, row)
    return first < train_stop if source.has_times else stop - first + train_stop > 0


def _about(source: TimeSeriesSource, part: TimeSeriesSource, name: str, size: int) -> str:
    assert isinstance(part, TimePart)
    if not source.has_times:
        return f"{size:,} steps of each series for {name}"
    time = source.grid.times(np.array([part.cut.start]))[0]
    return f"{size:,} steps from {time_text(time)} for {name}"


def _too_short(
    source: TimeSeriesSource, data: DataSettings, steps: Range, sizes: dict[str, int]
) -> DataError:
    held = " and ".join(f"{size:,} for {name}" for name, size in sizes.items() if size)
    what = "the table has" if steps.is_common else "half of the series have at most"
    return DataError(
        f"{what} {steps.length:,} steps, too few to forecast {data.horizon:,}: {held or 'nothing'} would be held out,"
        f" and training needs at least {data.horizon + FEWEST_TRAINING:,}.",
        where=shortened(source.name, 200),
        cure="Forecast fewer steps (data.horizon=N), hold out fewer parts (data.test_share=0), or add earlier data.",
    )

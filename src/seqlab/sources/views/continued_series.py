"""Files for later splits continue the series of the training file: each gets the history before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.views.row_of_series import num_steps, place_of_step, steps_until, time_text
from seqlab.sources.views.time_cut import SeriesView
from seqlab.sources.views.time_series import TimeSeries, TimeSeriesSource

SHOWN = 3
MOST_LOST = 0.5
"""Most of the training data that may be later than the beginning of a held-out file."""
NEVER = 2**62


class ContinuedSeries(SeriesView):
    """The series of a later file with the history of an earlier one. Where both have a value, the later file wins."""

    def __init__(self, history: TimeSeriesSource, later: TimeSeriesSource) -> None:
        if isinstance(later, TimeSeries):
            later = later.on_grid(history.grid)
        super().__init__(history)
        self.name, self.bad_rows = later.name, later.bad_rows
        self._later = later

    def rows(self) -> Iterator[Row]:
        for joined in self.joined():
            if joined.row is not None:
                yield joined.row

    def joined(self) -> Iterator[Joined]:
        """Every series of the later file, those without history last."""
        waiting = {row.values["series"]: row for row in self._later.rows()}
        for row in self.whole.rows():
            if (later := waiting.pop(row.values["series"], None)) is not None:
                yield _join(self.whole, row, later)
        for row in waiting.values():
            yield Joined(row.values["series"], None, NEVER)

    def fingerprint(self) -> str:
        return f"{self.whole.fingerprint()}:continued:{self._later.fingerprint()}"


class EarlierSeries(SeriesView):
    """Series that end where a later file begins."""

    def __init__(self, whole: TimeSeriesSource, stop: int) -> None:
        super().__init__(whole)
        self._stop = stop

    def rows(self) -> Iterator[Row]:
        for row in self.whole.rows():
            stop = min(self._stop - _first(self.whole, row), num_steps(row))
            if stop > row.values["start"]:
                yield steps_until(row, stop, start=row.values["start"])

    def fingerprint(self) -> str:
        return f"{self.whole.fingerprint()}:until:{self._stop}"


@dataclass
class Joined:
    """A series of a later file, and how it meets its history."""

    name: str
    row: Row | None
    start: int
    """The step of the common clock at which the later file begins."""
    conflicts: list[str] = field(default_factory=list)
    num_conflicts: int = 0


def continue_series(
    parts: Mapping[str, TimeSeriesSource],
) -> tuple[dict[str, TimeSeriesSource], list[str], list[str]]:
    """Each part with the history of those before it, and training data that ends where the next part begins; with
    reasons and warnings.
    """
    joined: dict[str, TimeSeriesSource] = dict(parts)
    reasons, warnings = list[str](), list[str]()
    before = "train"
    for name in ("valid", "test"):
        if name not in parts:
            continue
        whole = ContinuedSeries(joined[before], parts[name])
        series = list(whole.joined())
        start = min((one.start for one in series), default=NEVER)
        if start == NEVER:
            raise _unknown(parts[before], parts[name], [one.name for one in series])
        warnings += _warnings(parts[before], parts[name], series)
        if whole.has_times:
            for earlier in ("train", "valid")[: 1 if name == "valid" else 2]:
                if earlier in joined:
                    joined[earlier] = _until(joined[earlier], start, later=parts[name])
        reasons.append(f"{parts[name].name} continues the series of {parts[before].name}")
        joined[name], before = whole, name
    return joined, reasons, warnings


def _join(source: TimeSeriesSource, history: Row, later: Row) -> Joined:
    """The history and the later steps in one row."""
    offset = _first(source, later) - _first(source, history) if source.has_times else _offset(history, later)
    name = later.values["series"]
    begin = min(offset, 0)
    length = max(num_steps(history), offset + num_steps(later)) - begin
    shift, where = -begin, offset - begin
    values: dict[str, Any] = {**later.values}
    for key in ("targets", "features", "known", "lines"):
        values[key] = _overlay(history.values[key], later.values[key], shift, where, length)
    first = _first(source, history) + begin
    values["times"] = source.grid.times(first + np.arange(length))
    begins = _begin(history, later, offset)
    values["start"] = begins - begin
    values["static"] = {**history.values["static"], **later.values["static"]}
    joined = Joined(name, Row(values, later.file, later.line), _first(source, history) + begins)
    _compare(joined, history, later, offset)
    return joined


def _overlay(history: np.ndarray, later: np.ndarray, shift: int, where: int, length: int) -> np.ndarray:
    """Both on one grid; a missing value does not replace a known one."""
    is_float = history.dtype.kind == "f"
    length = max(length, shift + len(history), where + len(later))
    whole = np.full((length, *history.shape[1:]), np.nan if is_float else 0, history.dtype)
    whole[shift : shift + len(history)] = history
    window = whole[where : where + len(later)]
    window[:] = np.where(np.isfinite(later) if is_float else later > 0, later, window)
    return whole


def _offset(history: Row, later: Row) -> int:
    """Where the later file begins if steps are only counted: at the end, unless it repeats the history."""
    known, values = history.values["targets"], later.values["targets"]
    repeats = len(values) > len(known) and np.array_equal(values[: len(known)], known, equal_nan=True)
    return 0 if repeats else len(known)


def _begin(history: Row, later: Row, offset: int) -> int:
    """The first later step that is not simply repeated history; the first one if all are."""
    known, values = history.values["targets"], later.values["targets"]
    if offset + len(values) <= len(known):
        return offset
    at = 0
    while (
        at < len(values)
        and 0 <= offset + at < len(known)
        and np.array_equal(known[offset + at], values[at], equal_nan=True)
    ):
        at += 1
    return offset + at


def _compare(joined: Joined, history: Row, later: Row, offset: int) -> None:
    """Times that are in both files with different values."""
    begin, end = max(offset, 0), min(num_steps(history), offset + num_steps(later))
    if begin >= end:
        return
    first = history.values["targets"][begin:end]
    other = later.values["targets"][begin - offset : end - offset]
    differs = np.isfinite(first) & np.isfinite(other) & (first != other)
    for at in np.flatnonzero(differs.any(axis=1)).tolist():
        joined.num_conflicts += 1
        if len(joined.conflicts) < SHOWN:
            column = int(np.argmax(differs[at]))
            joined.conflicts.append(
                f"{place_of_step(history, begin + at)} is {first[at, column]:g} in {history.file} and"
                f" {other[at, column]:g} in {later.file} (line {later.values['lines'][begin + at - offset]:,})"
            )


def _warnings(before: Source, later: Source, series: list[Joined]) -> list[str]:
    sentences = []
    if total := sum(one.num_conflicts for one in series):
        shown = [conflict for one in series for conflict in one.conflicts][:SHOWN]
        sentences.append(
            f"{total:,} time{' is' if total == 1 else 's are'} in both files with different values, and the later file"
            f" wins: {'; '.join(shown)}"
        )
    if new := [one.name for one in series if one.row is None]:
        sentences.append(
            f"{len(new):,} series of {later.name} {'is' if len(new) == 1 else 'are'} not in {before.name} and left out,"
            f" such as '{new[0]}'"
        )
    return sentences


def _until(source: TimeSeriesSource, stop: int, *, later: Source) -> TimeSeriesSource:
    """The source without the steps from a later file's beginning on."""
    lengths = [(num_steps(row), stop - _first(source, row)) for row in source.rows()]
    total = sum(length for length, _ in lengths)
    kept = sum(min(max(until, 0), length) for length, until in lengths)
    if kept == total:
        return source
    if kept < (1 - MOST_LOST) * total:
        time = time_text(source.grid.times(np.array([stop]))[0])
        raise DataError(
            f"it begins at {time}, before {total - kept:,} of the {total:,} steps of {source.name}, which could not be used"
            " for training.",
            where=later.name,
            cure="A held-out file must continue the training file: cut the data at one time.",
        )
    return EarlierSeries(source, stop)


def _unknown(before: Source, later: Source, names: list[str]) -> DataError:
    example = f", such as '{names[0]}'" if names and names[0] else ""
    return DataError(
        f"none of its {len(names):,} series{example} is in {before.name}.",
        where=later.name,
        cure="A held-out file must continue series of the training file; is data.sequence the right column?",
    )


def _first(source: TimeSeriesSource, row: Row) -> int:
    """The first step of a row on the common clock."""
    return int(source.grid.number_of(row.values["times"][:1])[0])

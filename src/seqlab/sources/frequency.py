"""How far the times of a series lie apart, and the regular grid on which its values stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int, Shaped

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800
SHORTEST_MONTH = 28 * DAY
MONTHLY = {1: "monthly", 3: "quarterly", 6: "half-yearly", 12: "yearly"}
UNITS = ((WEEK, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (1, "second"))
ADVERBS = {WEEK: "weekly", DAY: "daily", HOUR: "hourly"}
M4_HORIZONS = {"hourly": 48, "daily": 14, "weekly": 13, "monthly": 18, "quarterly": 8, "yearly": 6}
"""The horizons of the M4 competition (Makridakis et al. 2020, International Journal of Forecasting 36(1), table 1)."""
FEWEST_FOR_WEEKDAYS = 10
Times = Shaped[np.ndarray, " steps"]
Numbers = Int[np.ndarray, " steps"]


@dataclass(frozen=True)
class Frequency:
    """From one time to the next: seconds, or calendar months. Where times are plain numbers, `seconds` is their
    difference.
    """

    seconds: int = 0
    months: int = 0
    is_clock: bool = True
    """Whether times are moments rather than plain numbers."""
    weekdays: bool = False
    """Whether steps are days from Monday to Friday."""

    @property
    def name(self) -> str:
        """
        >>> Frequency(900).name, Frequency(86400).name, Frequency(months=3).name, Frequency(1, is_clock=False).name
        ('every 15 minutes', 'daily', 'quarterly', 'steps')
        """
        if not self.is_clock:
            return "steps" if self.seconds == 1 else f"every {self.seconds} steps"
        if self.weekdays:
            return "every weekday"
        if self.months:
            return MONTHLY.get(self.months, f"every {self.months} months")
        size, unit = next((size, unit) for size, unit in UNITS if self.seconds % size == 0)
        count = self.seconds // size
        return ADVERBS.get(self.seconds, f"every {unit}") if count == 1 else f"every {count} {unit}s"

    @property
    def season(self) -> int:
        """The steps of the natural season: a day for parts of a day, else a week or a year; 1 if there is none.

        >>> [Frequency(n).season for n in (1, 900, 3600, 86400, 604800)], [Frequency(months=n).season for n in (1, 3, 12)]
        ([1, 96, 24, 7, 52], [12, 4, 1])
        """
        if not self.is_clock:
            return 1
        if self.months:
            return 12 // self.months if 12 % self.months == 0 else 1
        if self.weekdays:
            return 5
        if self.seconds < DAY:
            return DAY // self.seconds if self.seconds >= MINUTE and DAY % self.seconds == 0 else 1
        return {DAY: 7, WEEK: 52}.get(self.seconds, 1)

    def horizon(self, season: int) -> int:
        """The steps to forecast unless the user says so: those of the M4 competition, else two seasons."""
        if self.weekdays:
            return 10
        if self.name in M4_HORIZONS:
            return M4_HORIZONS[self.name]
        return 2 * season if season > 1 else 10

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("seconds", "months", "is_clock", "weekdays")}


@dataclass(frozen=True)
class Grid:
    """The regular times of a table: step n is n steps after the one at `phase`."""

    frequency: Frequency
    phase: int = 0
    """Seconds after 1970 of some step; for months, months after January 1970."""
    day: int = 0
    """For months: the day within the month, counted from 0; 31 for the last one."""
    clock: int = 0
    """For months and weekdays: seconds after midnight."""

    def number(self, times: Numbers) -> Numbers:
        """The steps nearest to some times, given in seconds since 1970."""
        frequency = self.frequency
        numbers: Numbers
        if frequency.months:
            numbers = (_months_of(times) - self.phase) // frequency.months
        elif frequency.weekdays:
            numbers = np.busday_count("1970-01-01", _days_of(times))
        else:
            numbers = (times - self.phase + frequency.seconds // 2) // frequency.seconds
        return numbers.astype(np.int64)

    def seconds(self, numbers: Numbers) -> Numbers:
        """The times of some steps, in seconds since 1970."""
        frequency = self.frequency
        seconds: Numbers
        if frequency.months:
            months = (self.phase + numbers * frequency.months).astype("datetime64[M]")
            first, last = months.astype("datetime64[D]"), (months + 1).astype("datetime64[D]") - 1
            seconds = np.minimum(first + self.day, last).astype("datetime64[s]").astype(np.int64) + self.clock
        elif frequency.weekdays:
            days = np.busday_offset("1970-01-01", numbers, roll="forward")
            seconds = days.astype("datetime64[s]").astype(np.int64) + self.clock
        else:
            seconds = self.phase + numbers * frequency.seconds
        return seconds

    def times(self, numbers: Numbers) -> Times:
        """The times of some steps, as `datetime64[s]` or as plain numbers.

        >>> Grid(Frequency(months=1), day=31).times(np.array([0, 1])).astype("datetime64[D]").astype(str).tolist()
        ['1970-01-31', '1970-02-28']
        """
        seconds = self.seconds(numbers)
        return seconds.astype("datetime64[s]") if self.frequency.is_clock else seconds

    def number_of(self, times: Times) -> Numbers:
        """The steps of the times of a row."""
        return self.number(times.astype(np.int64))


class StepCounts:
    """Counts the differences of consecutive times, series by series."""

    def __init__(self, *, is_clock: bool) -> None:
        self._is_clock = is_clock
        self._steps, self._months, self._weekdays = Counter[int](), Counter[int](), Counter[int]()
        self._phases, self._month_phases = Counter[int](), Counter[tuple[int, int, int]]()
        self.num_times = self._on_weekends = 0
        self._first, self._last = 2**62, -(2**62)

    def add(self, times: Numbers) -> None:
        """Count the steps of one series, whose times increase."""
        if not len(times):
            return
        self.num_times += len(times)
        self._first, self._last = min(self._first, int(times[0])), max(self._last, int(times[-1]))
        _count(self._steps, np.diff(times))
        if self._is_clock:
            days = _days_of(times)
            _count(self._phases, times % WEEK)
            _count(self._months, np.diff(_months_of(times)))
            _count(self._weekdays, np.diff(np.busday_count("1970-01-01", days)))
            self._on_weekends += int((~np.is_busday(days)).sum())
            if np.median(np.diff(times, append=times[-1] + SHORTEST_MONTH)) >= SHORTEST_MONTH:
                self._count_month_phases(times)

    def _count_month_phases(self, times: Numbers) -> None:
        """Count the months of the year, and the days of the month, 31 for the last one."""
        days = _days_of(times)
        in_month = (days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(np.int64)
        is_last = (days + 1).astype("datetime64[M]") != days.astype("datetime64[M]")
        in_month[is_last] = 31
        places = zip(
            (_months_of(times) % 12).tolist(), in_month.tolist(), (times % DAY).tolist(), strict=True
        )
        self._month_phases.update(places)

    @cached_property
    def frequency(self) -> Frequency:
        """The most common difference; months and weekdays where times follow the calendar."""
        if not self._steps:
            return Frequency(DAY if self._is_clock else 1, is_clock=self._is_clock)
        step = _most_common(self._steps)
        if not self._is_clock:
            return Frequency(step, is_clock=False)
        if step >= SHORTEST_MONTH and self._follows_months(step):
            return Frequency(months=max(1, _most_common(self._months)))
        spans_weekends = self._last - self._first >= 2 * WEEK and self.num_times >= FEWEST_FOR_WEEKDAYS
        return Frequency(step, weekdays=step == DAY and not self._on_weekends and spans_weekends)

    def _follows_months(self, step: int) -> bool:
        """Whether times have one day of the month: every 28 days is not monthly."""
        most = max(self._days_of_month().values(), default=0)
        return most >= 0.8 * self.num_times or self._steps[step] < 0.8 * self._steps.total()

    def _days_of_month(self) -> Counter[tuple[int, int]]:
        counts = Counter[tuple[int, int]]()
        for (_, day, clock), count in self._month_phases.items():
            counts[day, clock] += count
        return counts

    @property
    def grid(self) -> Grid:
        """The grid on which most times stand."""
        frequency = self.frequency
        if frequency.months:
            phases = Counter[int]()
            for (month, _, _), count in self._month_phases.items():
                phases[month % frequency.months] += count
            day, clock = _most_common(self._days_of_month())
            return Grid(frequency, _most_common(phases), day, clock)
        if frequency.weekdays:
            return Grid(frequency, clock=self._phase(DAY))
        return Grid(frequency, self._phase(frequency.seconds))

    def _phase(self, size: int) -> int:
        """The most common rest of times divided by the size of a step."""
        if WEEK % size or not self._phases:
            return self._first % size if self.num_times else 0
        phases = Counter[int]()
        for phase, count in self._phases.items():
            phases[phase % size] += count
        return _most_common(phases)

    @property
    def num_missing(self) -> int:
        """The steps without a row, between the first and the last of each series."""
        frequency = self.frequency
        if frequency.months:
            return sum((step // frequency.months - 1) * count for step, count in self._months.items() if step)
        if frequency.weekdays:
            return sum(max(step - 1, 0) * count for step, count in self._weekdays.items())
        size = frequency.seconds
        return sum(max((step + size // 2) // size - 1, 0) * count for step, count in self._steps.items())

    @property
    def num_irregular(self) -> int:
        """The steps that are no multiple of the most common one."""
        if self.frequency.months:
            return sum(
                count for step, count in self._months.items() if step % self.frequency.months or not step
            )
        return sum(count for step, count in self._steps.items() if step % self.frequency.seconds)


def _months_of(times: Numbers) -> Numbers:
    return times.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)


def _days_of(times: Numbers) -> Shaped[np.ndarray, " steps"]:
    return times.astype("datetime64[s]").astype("datetime64[D]")


def _count(counts: Counter[int], values: Numbers) -> None:
    values, numbers = np.unique(values, return_counts=True)
    counts.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))


Countable = TypeVar("Countable", int, tuple[int, int])


def _most_common(counts: Counter[Countable]) -> Countable:
    """The most frequent value, the smallest of several."""
    return min(counts, key=lambda value: (-counts[value], value))

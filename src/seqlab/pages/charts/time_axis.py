"""Times along an axis: from ISO text to numbers, and round ticks with short labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from seqlab.pages.charts.ticks import tick_labels, ticks

MAX_TICKS = 5
MINUTE, HOUR, DAY, MONTH, YEAR = 60, 3600, 86400, 2_629_746, 31_556_952
"""Seconds; of a month and a year, their mean."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Ticks = list[tuple[float, str]]


def time_numbers(times: Sequence[str]) -> list[float]:
    """Return seconds for dates, or the numbers themselves where the steps are numbered.

    >>> time_numbers(["1970-01-02", "1970-01-02T00:01:00"]), time_numbers(["7", "8"])
    ([86400.0, 86460.0], [7.0, 8.0])
    """
    return (
        [(_date(time) - _date("1970-01-01")).total_seconds() for time in times]
        if is_dated(times)
        else [*map(float, times)]
    )


def is_dated(times: Sequence[str]) -> bool:
    return bool(times) and "-" in times[0][1:]


def time_ticks(times: Sequence[str]) -> Ticks:
    """Return at most five round times inside a range, with their labels.

    >>> [label for _, label in time_ticks(["2017-01-20", "2017-04-24"])]
    ['Feb', 'Mar', 'Apr']
    >>> [label for _, label in time_ticks(["2017-01-20T22:00:00", "2017-01-21T07:00:00"])]
    ['21 Jan', '03:00', '06:00']
    >>> time_ticks(["10", "20", "30"])
    [(10.0, '10'), (15.0, '15'), (20.0, '20'), (25.0, '25'), (30.0, '30')]
    """
    numbers = time_numbers([times[0], times[-1]])
    if not is_dated(times):
        values = ticks(numbers[0], numbers[-1], whole=True)
        return list(zip(values, tick_labels(values), strict=True))
    for length, every, walk in _STEPS:
        if (numbers[1] - numbers[0]) / (length * every) <= MAX_TICKS:
            inside = list(walk(_date(times[0]), _date(times[-1]), every))
            if len(inside) <= MAX_TICKS:
                return inside
    return []


def time_range(times: Sequence[str]) -> str:
    """Return the first and the last time as text, for the title of the axis.

    >>> time_range(["2017-01-20T00:00:00", "2017-01-21T00:00:00"]), time_range(["2017-01-20T07:00:00", "2017-01-20T09:00:00"])
    ('2017-01-20 to 2017-01-21', '2017-01-20 07:00 to 2017-01-20 09:00')
    """
    if not is_dated(times):
        return f"step {times[0]} to {times[-1]}"
    ends = [_date(times[0]), _date(times[-1])]
    has_hours = any(end.hour or end.minute for end in ends)
    first, last = (end.strftime("%Y-%m-%d %H:%M" if has_hours else "%Y-%m-%d") for end in ends)
    return f"{first} to {last}"


def _date(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(tzinfo=UTC)


def _seconds(first: datetime, last: datetime, every: int, *, unit: int) -> Iterator[tuple[float, str]]:
    start, end = first.timestamp(), last.timestamp()
    value = -(-start // (every * unit)) * every * unit
    while value <= end:
        at = datetime.fromtimestamp(value, UTC)
        is_midnight = not (at.hour or at.minute)
        yield value, f"{at.day} {MONTHS[at.month - 1]}" if is_midnight else at.strftime("%H:%M")
        value += every * unit


def _months(first: datetime, last: datetime, every: int) -> Iterator[tuple[float, str]]:
    month = first.year * 12 + first.month - 1
    while (at := datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)) <= last:
        if at >= first and at.month % every == 1 % every:
            yield at.timestamp(), str(at.year) if at.month == 1 else MONTHS[at.month - 1]
        month += 1


def _years(first: datetime, last: datetime, every: int) -> Iterator[tuple[float, str]]:
    for year in range(first.year + (first > datetime(first.year, 1, 1, tzinfo=UTC)), last.year + 1):
        if year % every == 0:
            yield datetime(year, 1, 1, tzinfo=UTC).timestamp(), str(year)


def _of_unit(unit: int) -> Callable[[datetime, datetime, int], Iterator[tuple[float, str]]]:
    return lambda first, last, every: _seconds(first, last, every, unit=unit)


_STEPS: list[tuple[int, int, Callable[[datetime, datetime, int], Iterator[tuple[float, str]]]]] = [
    *((MINUTE, every, _of_unit(MINUTE)) for every in (1, 5, 15, 30)),
    *((HOUR, every, _of_unit(HOUR)) for every in (1, 3, 6, 12)),
    *((DAY, every, _of_unit(DAY)) for every in (1, 2, 7, 14)),
    *((MONTH, every, _months) for every in (1, 2, 3, 6)),
    *((YEAR, every, _years) for every in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
]

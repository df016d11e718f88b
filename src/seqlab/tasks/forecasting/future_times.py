"""The times after the last one of a series."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqlab.sources.frequency import DAY, Frequency, Grid
from seqlab.tasks.forecasting.calendar import Times

LAST_DAY = 31
MONTH_SECONDS = 2_629_746
"""The mean length of a month."""


def times_after(times: Times, count: int, frequency: Frequency) -> Shaped[np.ndarray, " later"]:
    """Return the times that follow the last one. The last day of a month is followed by the last day of the next.
    Numbers are counted on.

    >>> end = np.array(["2027-01-31"], "datetime64[s]")
    >>> times_after(end, 2, Frequency(months=1)).astype("datetime64[D]").astype(str).tolist()
    ['2027-02-28', '2027-03-31']
    """
    last = times[-1:].astype(np.int64)
    if times.dtype.kind != "M":
        return last + np.arange(1, count + 1) * (1 if frequency.is_clock else frequency.seconds)
    grid = _grid_through(times[-1], frequency)
    return grid.times(grid.number(last) + np.arange(1, count + 1))


def _grid_through(time: Any, frequency: Frequency) -> Grid:
    """Return the grid of which a time is a step."""
    seconds, day = int(time.astype(np.int64)), time.astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    if not frequency.months:
        return Grid(frequency, seconds, clock=seconds % DAY)
    is_last = (day + 1).astype("datetime64[M]") != month
    in_month = LAST_DAY if is_last else int((day - month.astype("datetime64[D]")).astype(np.int64))
    return Grid(frequency, int(month.astype(np.int64)), in_month, seconds % DAY)


def seconds_per_step(frequency: Frequency) -> float:
    return float(frequency.months * MONTH_SECONDS or frequency.seconds)


def time_text(time: Any) -> str:
    """A time as ISO text, without a time of day at midnight.

    >>> time_text(np.datetime64("2017-01-02T00:00:00")), time_text(np.datetime64("2017-01-02T07:30:00")), time_text(np.int64(7))
    ('2017-01-02', '2017-01-02T07:30:00', '7')
    """
    return str(time).removesuffix("T00:00:00")

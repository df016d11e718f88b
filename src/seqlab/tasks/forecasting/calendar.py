"""Calendar features: where a time is within the hour, the day, the week and the year."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Shaped

Times = Shaped[np.ndarray, " steps"]

HOUR, DAY, WEEK, YEAR = 3600, 86_400, 604_800, 31_556_952
SECONDS = {"hour": HOUR, "day": DAY, "week": WEEK, "year": YEAR}
"""The periods by name. Weeks start on Monday, years on January 1."""
MONDAY = 4 * DAY
"""The first Monday after the start of 1970, a Thursday."""
FEWEST_STEPS, FEWEST_PERIODS = 4, 2
"""A period is a feature if it has at least this many steps, and the data this many periods."""


def periods_of(times: Times, step: float) -> tuple[str, ...]:
    """Return the periods that can be learned from some times; none if the times are numbers.

    step: seconds from one time to the next.

    >>> hours = np.datetime64("2026-01-01T00", "s") + np.arange(24 * 30) * 3600
    >>> periods_of(hours, 3600.0), periods_of(np.arange(24 * 30), 1.0)
    (('day', 'week'), ())
    """
    if times.dtype.kind != "M" or not len(times):
        return ()
    span = float((times.max() - times.min()) / np.timedelta64(1, "s"))
    return tuple(
        name
        for name, seconds in SECONDS.items()
        if step * FEWEST_STEPS <= seconds and span >= FEWEST_PERIODS * seconds
    )


def calendar_features(times: Times, periods: tuple[str, ...]) -> Float[np.ndarray, "steps features"]:
    """Return sine and cosine of the position within each period.

    >>> noon = np.array(["2026-01-01T12:00:00", "2026-01-01T18:00:00"], "datetime64[s]")
    >>> (calendar_features(noon, ("day",)).round(9) + 0.0).tolist()
    [[0.0, -1.0], [-1.0, 0.0]]
    """
    columns = [turn(2 * np.pi * _share(times, period)) for period in periods for turn in (np.sin, np.cos)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(times), 0))


def _share(times: Times, period: str) -> Float[np.ndarray, " steps"]:
    """Return the part of the period that has passed, from 0 to 1."""
    if period == "year":
        start = times.astype("datetime64[Y]")
        length = (start + 1).astype("datetime64[s]") - start.astype("datetime64[s]")
        return (times - start.astype("datetime64[s]")) / length
    seconds = times.astype("datetime64[s]").astype(np.int64) - (MONDAY if period == "week" else 0)
    shares: Float[np.ndarray, " steps"] = (seconds % SECONDS[period]) / SECONDS[period]
    return shares

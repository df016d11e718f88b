"""Parts of the row of a series: the steps of one split with the history before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqlab.sources.base import Row

PER_STEP = ("times", "targets", "features", "lines")


def num_steps(row: Row) -> int:
    return len(row.values["targets"])


def steps_until(row: Row, stop: int, *, start: int, keeps_known: bool = False) -> Row:
    """The first `stop` steps; those before `start` are history.

    keeps_known: also keep what is known of the steps after `stop`.
    """
    values: dict[str, Any] = {**row.values, "start": start}
    for name in PER_STEP:
        values[name] = row.values[name][:stop]
    if not keeps_known:
        values["known"] = row.values["known"][:stop]
    return Row(values, row.file, row.line)


def place_of_step(row: Row, step: int) -> str:
    """Where a step is: its time, and its line."""
    time = row.values["times"][step]
    name = time_text(time) if isinstance(time, np.datetime64) else f"step {time}"
    series = f"{row.values['series']}, " if row.values["series"] else ""
    return f"{series}{name} (line {row.values['lines'][step]:,})"


def time_text(time: Any) -> str:
    """
    >>> time_text(np.datetime64("2024-01-31T00:00:00")), time_text(np.datetime64("2024-01-31T10:30:00")), time_text(7)
    ('2024-01-31', '2024-01-31 10:30:00', '7')
    """
    return str(time).removesuffix("T00:00:00").replace("T", " ")

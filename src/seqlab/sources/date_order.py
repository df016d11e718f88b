"""Which number comes first in dates such as 01/02/2024: decided once for a file, and said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Any

from seqlab.sources.base import Row, Source
from seqlab.sources.settings import DateOrder
from seqlab.sources.timestamps import TimeFormat, day_and_month, find_time_format

SAMPLE = 1000
MONTHS = 12


def decide_date_order(source: Source, time_cell: Callable[[Row], Any]) -> tuple[DateOrder, str]:
    """The order and the reason; empty if the dates leave nothing open.

    The file is read until a month is impossible.
    """
    cells = [str(time_cell(row) or "") for row in islice(source.rows(), SAMPLE)]
    found = find_time_format(cells)
    if found is None or found.kind != "numeric":
        return "", ""
    for row in source.rows():
        first, other = day_and_month(str(time_cell(row) or "")) or (1, 1)
        if first > MONTHS >= other:
            return "day", f"{first} in line {row.line} is no month"
        if other > MONTHS >= first:
            return "month", f"{other} in line {row.line} is no month"
    return _likely_order(cells)


def _likely_order(cells: Sequence[str]) -> tuple[DateOrder, str]:
    """The order if every date can be read in both."""
    filled = [cell for cell in cells if day_and_month(cell)]
    if all("." in cell.partition(" ")[0] for cell in filled):
        return "day", "as usual with points between the numbers"
    changes = {order: _num_changes(filled, order) for order in ("day", "month")}
    if changes["day"] != changes["month"]:
        order: DateOrder = "day" if changes["day"] < changes["month"] else "month"
        return order, "so that the rows are in order, at even steps"
    return "month", "both orders are possible"


def _num_changes(cells: Sequence[str], order: DateOrder) -> int:
    """How often the step from one row to the next changes, by more than months and years do.

    >>> _num_changes(["01/01/2024", "01/02/2024", "01/03/2024"], "day")
    0
    >>> _num_changes(["12/01/2023", "12/02/2023", "01/01/2024", "01/02/2024"], "month")
    2
    """
    times = [TimeFormat("numeric", order).read(cell) for cell in cells]
    steps = [later - time for time, later in pairwise(times) if later != time]
    return sum(abs(other - step) > 0.15 * abs(step) for step, other in pairwise(steps))

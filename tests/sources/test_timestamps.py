"""Times in many formats, their order of day and month, frequencies and seasons."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from seqlab.sources.frequency import Frequency, Grid, StepCounts
from seqlab.sources.season import find_season
from seqlab.sources.timestamps import TimeFormat, find_time_format
from tests.sources.series_files import days, read, values_of, write


def seconds(*parts: int) -> int:
    year, month, day, *clock = parts
    return int(datetime(year, month, day, *clock, tzinfo=UTC).timestamp())


CELLS = {
    "2024-03-05": seconds(2024, 3, 5), "2024/3/5 7:08": seconds(2024, 3, 5, 7, 8), "2024-03-05T07:08:09.5Z": seconds(2024, 3, 5, 7, 8, 9),
    "2024-03-05 07:08:09+05:30": seconds(2024, 3, 5, 1, 38, 9), "2024-03-05 24:00": seconds(2024, 3, 6),
    "20240305": seconds(2024, 3, 5), "202403": seconds(2024, 3, 1), "202403050708": seconds(2024, 3, 5, 7, 8),
    "5 March 2024": seconds(2024, 3, 5), "Mar 5, 2024": seconds(2024, 3, 5), "05-Mar-24": seconds(2024, 3, 5), "Tue, 5 Mar 2024": seconds(2024, 3, 5),
    "Mar 2024": seconds(2024, 3, 1), "Mrz 24": seconds(2024, 3, 1), "2024-März-5": seconds(2024, 3, 5), "août 2024": seconds(2024, 8, 1),
    "2024-03": seconds(2024, 3, 1), "03.2024": seconds(2024, 3, 1), "2024M03": seconds(2024, 3, 1),
    "2024-Q2": seconds(2024, 4, 1), "Q2 2024": seconds(2024, 4, 1), "2024-W10": seconds(2024, 3, 4), "2024W10-2": seconds(2024, 3, 5),
    "1987": seconds(1987, 1, 1), "1709622489": seconds(2024, 3, 5, 7, 8, 9), "1709622489000": seconds(2024, 3, 5, 7, 8, 9),
    "1709622489.75": seconds(2024, 3, 5, 7, 8, 9), "17": 17, "17.0": 17,
}  # fmt: skip


def test_every_format_is_read() -> None:
    formats = {cell: find_time_format([cell]) for cell in CELLS}
    assert all(formats.values()), [cell for cell, form in formats.items() if form is None]
    assert {cell: form.read(cell) for cell, form in formats.items() if form} == CELLS


@pytest.mark.parametrize(
    "cell", ["2024-13-01", "2024-02-30", "Total", "5 Foo 2024", "2024-W54", "2024-Q5", "12:61", "1e400"]
)
def test_what_is_no_time_is_not_read(cell: str) -> None:
    for kind in ("iso", "named", "month", "quarter", "week", "year", "compact", "epoch", "steps"):
        with pytest.raises((ValueError, OverflowError)):
            TimeFormat(kind).read(cell)


def test_half_days_and_both_orders() -> None:
    assert TimeFormat("numeric", "month").read("03/05/24 12:30 AM") == seconds(2024, 3, 5, 0, 30)
    assert TimeFormat("numeric", "day").read("03/05/2024 1:30 p.m.") == seconds(2024, 5, 3, 13, 30)


@pytest.mark.parametrize(
    ("cells", "first", "order"),
    [
        ([f"{n:02d}/01/2024" for n in range(1, 32)], "2024-01-01", "day"),  # 13 is no month
        ([f"01/{n:02d}/2024" for n in range(1, 32)], "2024-01-01", "month"),
        ([f"{n:02d}.02.2024" for n in range(1, 10)], "2024-02-01", "day"),  # points
        (
            [f"01/{n % 12 + 1:02d}/{2022 + n // 12}" for n in range(24)],
            "2022-01-01",
            "day",
        ),  # months in order
    ],
)
def test_one_order_of_day_and_month_for_the_whole_file(
    cells: list[str], first: str, order: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "a.csv", "date,kwh", *(f"{cell},{n}.5" for n, cell in enumerate(cells)))
    source, reasons = read(path)
    assert str(values_of(source)[""]["times"][0])[:10] == first
    assert any(f"begin with the {order}" in reason and "data.date_order=" in reason for reason in reasons)
    assert len(values_of(source)[""]["targets"]) == len(cells)


def test_the_order_can_be_set(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "date,kwh", "02/03/2024,1", "03/03/2024,2", "04/03/2024,3")
    assert str(values_of(read(path, date_order="month")[0])[""]["times"][0]) == "2024-02-03T00:00:00"
    assert str(values_of(read(path, date_order="day")[0])[""]["times"][0]) == "2024-03-02T00:00:00"


def frequency_of(*stamps: str) -> tuple[Frequency, Grid]:
    counts = StepCounts(is_clock=True)
    counts.add(np.array(stamps, "datetime64[s]").astype(np.int64))
    return counts.frequency, counts.grid


def test_months_end_on_days_of_their_own() -> None:
    stamps = ("2023-01-31", "2023-02-28", "2023-03-31", "2023-04-30", "2023-06-30")
    frequency, grid = frequency_of(*stamps)
    assert frequency.months == 1
    times = np.array(stamps, "datetime64[s]")
    assert (np.diff(grid.number_of(times)) == [1, 1, 1, 2]).all()
    assert grid.times(grid.number_of(times)).tolist() == times.tolist()


def test_every_four_weeks_is_not_monthly() -> None:
    stamps = days(300)[::28]
    frequency, _ = frequency_of(*stamps)
    assert (frequency.months, frequency.seconds) == (0, 28 * 86400)


def test_years_and_weeks() -> None:
    assert frequency_of("2000", "2001", "2002", "2003", "2004", "2005")[0] == Frequency(months=12)
    assert frequency_of(*days(70)[::7])[0] == Frequency(7 * 86400)


@pytest.mark.parametrize("stamp", ["04:31:07", "04:29:50"])
def test_a_late_or_early_stamp_moves_to_the_nearest_time(stamp: str) -> None:
    stamps = [f"2024-01-01T{hour:02d}:30:00" for hour in range(9)]
    stamps[4] = f"2024-01-01T{stamp}"
    frequency, grid = frequency_of(*stamps)
    times = np.array(stamps, "datetime64[s]")
    assert frequency.name == "hourly"
    assert (np.diff(grid.number_of(times)) == 1).all()
    assert str(grid.times(grid.number_of(times))[4]) == "2024-01-01T04:30:00"


def test_the_shorter_of_two_seasons_is_found_in_noise() -> None:
    steps = np.arange(24 * 7 * 6)
    noise = np.random.default_rng(3).normal(size=len(steps))
    values = 5 * np.sin(2 * np.pi * steps / 24) + 2 * np.sin(2 * np.pi * steps / 168) + noise + steps / 50
    assert find_season([values]) == 24
    assert find_season([noise]) == 1

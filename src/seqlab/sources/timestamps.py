"""Cells of a time column -> seconds since 1970 (UTC), or whole numbers as plain steps.

2024-01-31 10:00+02:00   2024/01/31   20240131   31.01.2024   01/31/24 5 PM   31 Jan 2024   Jan 2024
2024-01   2024-Q1   2024-W05   2024   1706659200   1706659200000   17
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from seqlab.sources.settings import DateOrder

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLOCK = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r" ?(?P<half>[AP]\.?M\.?)?)? ?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?"
)
NAME = r"(?P<name>[^\W\d_]{3,12})\.?"
MONTH_NAMES = (
    "jan janv ene gen", "feb fév fev", "mar mär mrz", "apr avr abr", "may mai mag", "jun juin giu",
    "jul juil lug", "aug aoû aou ago", "sep set", "oct okt ott", "nov", "dec dez déc dic",
)  # fmt: skip
"""How the names of the months begin, in English, German, French, Spanish and Italian."""
NUMBER_OF_MONTH = {start: 1 + at for at, names in enumerate(MONTH_NAMES) for start in names.split()}
STEP_ONLY_NAMES = frozenset(("step", "t", "timestep", "index", "frame"))
FEWEST_READABLE = 0.6
"""Fraction of the cells that a kind must be able to read."""
EPOCH_UNITS = ((10**8, 1), (10**11, 10**3), (10**14, 10**6), (10**17, 10**9))
"""From which size on whole numbers count seconds, milliseconds, microseconds or nanoseconds."""


@dataclass(frozen=True)
class TimeFormat:
    """How the cells of a time column are read."""

    kind: str
    order: DateOrder = ""
    """Which number of 01/02/2024 comes first."""

    @property
    def is_clock(self) -> bool:
        """Whether times are moments; otherwise they are plain steps."""
        return self.kind != "steps"

    @property
    def is_unmistakable(self) -> bool:
        """Whether such cells can hardly be anything but times."""
        return self.kind in ("iso", "numeric", "named", "quarter", "week")

    def read(self, cell: Any) -> int:
        """Seconds since 1970, or a plain step; ValueError if the cell is not such a time.

        >>> TimeFormat("iso").read("1970-01-01 02:00+02:00"), TimeFormat("numeric", "day").read("02/01/1970")
        (0, 86400)
        >>> TimeFormat("quarter").read("1970-Q2") == TimeFormat("month").read("1970-04") == 90 * 86400
        True
        """
        if isinstance(cell, date):  # and datetime, from Parquet and DataFrames
            moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)  # noqa: DTZ001 (UTC)
            return _seconds(moment)
        text = str(cell).strip()
        if self.kind == "numeric":
            return _numeric(text, day_first=self.order == "day")
        return READERS[self.kind](text)


def find_time_format(cells: Sequence[Any], *, name: str = "") -> TimeFormat | None:
    """The kind that reads most cells of a sample; None if the cells are not times. name: of the column.

    >>> find_time_format(["2024-01-01", "2024-01-02"]).kind, find_time_format(["1", "2"]).kind, find_time_format(["a", "b"])
    ('iso', 'steps', None)
    """
    filled = [cell for cell in cells if cell is not None and str(cell).strip()]
    readable = {kind: sum(_is_read(TimeFormat(kind, "day"), cell) for cell in filled) for kind in KINDS}
    if name.lower() in STEP_ONLY_NAMES:
        readable["year"] = readable["compact"] = 0
    best = max(readable, key=lambda kind: readable[kind])  # the first of several
    return TimeFormat(best) if filled and readable[best] >= FEWEST_READABLE * len(filled) else None


def has_zone(cells: Sequence[Any]) -> bool:
    """Whether times name their offset from UTC.

    >>> has_zone(["2024-01-01 10:00+02:00"]), has_zone(["2024-01-01T10:00Z"]), has_zone(["2024-01-01"])
    (True, False, False)
    """
    moments = [cell for cell in cells if isinstance(cell, datetime)]
    return any(moment.tzinfo is not None and moment.utcoffset() for moment in moments) or any(
        (match := ISO.fullmatch(cell.strip()) or NUMERIC.fullmatch(cell.strip())) and _offset(match["zone"])
        for cell in cells
        if isinstance(cell, str)
    )


def day_and_month(text: str) -> tuple[int, int] | None:
    """The first two numbers of a date such as 01/02/2024.

    >>> day_and_month("13/02/2024 10:00"), day_and_month("2024-01-02")
    ((13, 2), None)
    """
    match = NUMERIC.fullmatch(text.strip())
    return (int(match["first"]), int(match["other"])) if match else None


ISO = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){CLOCK}", re.I)
NUMERIC = re.compile(
    rf"(?P<first>\d\d?)(?P<mark>[-/.])(?P<other>\d\d?)(?P=mark)(?P<year>\d{{4}}|\d\d){CLOCK}", re.I
)
NAMED = tuple(
    re.compile(rf"(?:[^\W\d_]{{2,9}}\.?,? )?{pattern}{clock}", re.I)
    for pattern, clock in (
        (rf"(?P<day>\d\d?)[-/. ]+{NAME}[-/., ]+(?P<year>\d{{4}}|\d\d)", CLOCK),
        (rf"{NAME}[-/. ]*(?P<day>\d\d?)(?:st|nd|rd|th)?,?[-/ ]+(?P<year>\d{{4}})", CLOCK),
        (rf"{NAME}[-/., ]*(?P<year>\d{{4}}|\d\d)", ""),
        (rf"(?P<year>\d{{4}}|\d\d)[-/. ]*{NAME}", ""),
        (rf"(?P<year>\d{{4}})[-/. ]+{NAME}[-/. ]+(?P<day>\d\d?)", CLOCK),
    )
)
MONTH = re.compile(r"(?P<year>\d{4})[-/.M](?P<month>\d\d?)|(?P<month_2>\d\d?)[-/.](?P<year_2>\d{4})", re.I)
QUARTER = re.compile(r"(\d{4})[-/ :]*Q([1-4])|Q([1-4])[-/ :]*(\d{4})", re.I)
WEEK = re.compile(r"(\d{4})[- ]?W(\d\d?)(?:-?([1-7]))?", re.I)
YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?:(?P<day>\d\d)(?:(\d\d)(\d\d)(\d\d)?)?)?")
WHOLE = re.compile(r"-?\d{1,19}(\.0+)?")


def _seconds(moment: datetime) -> int:
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (aware - EPOCH) // timedelta(seconds=1)


def _iso(text: str) -> int:
    if len(text) in (10, 19) and text[7] == "-":  # four times faster than the general case
        try:
            return _seconds(datetime.fromisoformat(text))
        except ValueError:
            pass
    if match := ISO.fullmatch(text):
        return _moment(match, int(match["month"]), int(match["day"]))
    raise ValueError(text)


def _numeric(text: str, *, day_first: bool) -> int:
    if match := NUMERIC.fullmatch(text):
        first, other = int(match["first"]), int(match["other"])
        return _moment(match, *((other, first) if day_first else (first, other)))
    raise ValueError(text)


def _named(text: str) -> int:
    for pattern in NAMED:
        match = pattern.fullmatch(text)
        if match and (month := _month_number(match["name"])):
            return _moment(match, month, int(match.groupdict().get("day") or 1))
    raise ValueError(text)


def _month(text: str) -> int:
    if match := MONTH.fullmatch(text):
        return _seconds(_day(int(match["year"] or match["year_2"]), int(match["month"] or match["month_2"])))
    raise ValueError(text)


def _quarter(text: str) -> int:
    if match := QUARTER.fullmatch(text):
        return _seconds(_day(int(match[1] or match[4]), 3 * int(match[2] or match[3]) - 2))
    raise ValueError(text)


def _week(text: str) -> int:
    if match := WEEK.fullmatch(text):
        monday = date.fromisocalendar(int(match[1]), int(match[2]), int(match[3] or 1))
        return _seconds(_day(monday.year, monday.month, monday.day))
    raise ValueError(text)


def _year(text: str) -> int:
    if YEAR.fullmatch(text):
        return _seconds(_day(int(text)))
    raise ValueError(text)


def _compact(text: str) -> int:
    if match := COMPACT.fullmatch(text):
        day = _day(int(match["year"]), int(match["month"]), int(match["day"] or 1))
        hour, minute, second = (int(match[at] or 0) for at in (4, 5, 6))
        return _seconds(day.replace(hour=hour, minute=minute, second=second))
    raise ValueError(text)


def _epoch(text: str) -> int:
    number = abs(int(float(text))) if not text.lstrip("-").isdecimal() else abs(int(text))
    per_second = next((unit for least, unit in reversed(EPOCH_UNITS) if number >= least), 0)
    if not per_second or number >= 10**20:
        raise ValueError(text)
    return (-number if text.startswith("-") else number) // per_second


def _step(text: str) -> int:
    if WHOLE.fullmatch(text):
        return int(text.partition(".")[0])
    raise ValueError(text)


READERS: Mapping[str, Callable[[str], int]] = {
    "iso": _iso, "named": _named, "month": _month, "quarter": _quarter, "week": _week, "year": _year,
    "compact": _compact, "epoch": _epoch, "steps": _step,
}  # fmt: skip
KINDS = ("iso", "numeric", *READERS)
"""In order of preference where several read the same cells: 2024 is a year before it is a step."""


def _moment(match: re.Match[str], month: int, day: int) -> int:
    parts = match.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= 69 else 2000  # as POSIX has it
    hour = int(parts.get("hour") or 0)
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError(match[0])
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    moment = _day(year, month, day).replace(
        hour=hour % 24 if hour == 24 else hour,
        minute=int(parts.get("minute") or 0),
        second=int(parts.get("second") or 0),
    )
    return _seconds(moment) + (86_400 if hour == 24 else 0) - _offset(parts.get("zone"))


def _day(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _offset(zone: str | None) -> int:
    """
    >>> _offset("+05:30"), _offset("-0800"), _offset("Z"), _offset(None)
    (19800, -28800, 0, 0)
    """
    if zone is None or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (1 if zone[0] == "+" else -1) * (3600 * int(digits[:2]) + 60 * int(digits[2:]))


def _month_number(name: str) -> int:
    """
    >>> _month_number("September"), _month_number("Mrz"), _month_number("juillet"), _month_number("Total")
    (9, 3, 7, 0)
    """
    word = name.lower()
    return NUMBER_OF_MONTH.get(word[:4]) or NUMBER_OF_MONTH.get(word[:3], 0)


def _is_read(form: TimeFormat, cell: Any) -> bool:
    try:
        form.read(cell)
    except (ValueError, OverflowError):
        if form.kind != "numeric":
            return False
        return bool(day_and_month(str(cell)))  # an impossible month here is a day
    return True

"""A table of series to forecast: which columns hold the time, the series, what to predict, and what else is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from seqlab.core.errors import listed
from seqlab.sources.base import Row
from seqlab.sources.column_names import SEQUENCE_NAMES, TIME_NAMES, is_named
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.base import ColumnRoles, Role, RoleReason
from seqlab.sources.roles.wide_roles import FEWEST_STEPS, numbered_steps
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import cell_text
from seqlab.sources.timestamps import TimeFormat, find_time_format, has_zone
from seqlab.sources.views.joined_columns import names_of


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TIMESTAMP_NAMES = (*TIME_NAMES, *_names("ds datetime period epoch utc fecha heure"))
SERIES_NAMES = (
    *SEQUENCE_NAMES,
    *_names("""
    unique store shop item product sku ticker symbol station sensor country region location city meter filiale
"""),
)
TARGET_NAMES = _names("""
    target y value values sales demand load close count quantity passengers consumption price
    wert umsatz absatz verbrauch menge ventes valor
""")
MOST_SERIES_COLUMNS = 3
MOSTLY = 0.95
"""Fraction of the rows that must have their own time."""
DATE_PARTS = ("year", "month", "day", "hour", "minute")
TIME_OF_DAY = re.compile(r"^\d{1,2}[:.]\d\d([:.]\d\d)?( ?[AP]M)?$", re.IGNORECASE)
WITH_TIME = re.compile(r"\d:\d\d")


def is_time_series(columns: Mapping[str, ColumnProfile]) -> bool:
    """Whether the table has times and numbers."""
    times = pick_time(columns).split(",")
    return bool(times[0]) and any(
        column.is_mostly_number for name, column in columns.items() if name not in times
    )


def future_roles(
    rows: Sequence[Row], columns: Mapping[str, ColumnProfile], data: DataSettings
) -> ColumnRoles | None:
    """The roles, or None if there is no number to predict."""
    time = data.time or pick_time(columns)
    if not time and not data.target and not data.features and (wide := wide_future_roles(columns, data)):
        return wide
    times = names_of(time, list(columns)) if time else []
    sequence = data.sequence or _pick_sequence(rows, columns, times, data)
    sequences = names_of(sequence, list(columns)) if sequence else []
    taken = {*times, *sequences, *data.known, *data.static}
    numbers = [name for name, column in columns.items() if column.is_mostly_number and name not in taken]
    target = data.target or _pick_target([name for name in numbers if name not in data.features], columns)
    targets = names_of(target, list(columns)) if target else []
    if not targets:
        return None
    features = data.features or tuple(
        name for name in numbers if name not in targets and _varies(columns[name])
    )
    reasons = (
        *_about("time", data.time, time, _about_time(columns, times)),
        *_about(
            "sequence",
            data.sequence,
            sequence,
            f"series column '{sequence}'; set data.sequence=NAME to change it",
        ),
        *_about("target", data.target, target, f"predicts '{target}'; set data.target=NAME to change it"),
        *_about(
            "features",
            ",".join(data.features),
            ",".join(features),
            f"inputs known up to now: {listed(features)}; set data.features=NAME,NAME to change them,"
            " data.known=NAME for what is known in advance",
        ),
    )
    return ColumnRoles(
        "future",
        sequence=sequence,
        features=features,
        reasons=reasons,
        evidence="times and numbers" if time else "numbers in order",
        time=time,
        target=target,
    )


def wide_future_roles(columns: Mapping[str, ColumnProfile], data: DataSettings) -> ColumnRoles | None:
    """The roles in a table with one series per row: a name and one column per step."""
    steps = numbered_steps(columns)
    others = [column for name, column in columns.items() if name not in steps and name not in data.static]
    names = [column.name for column in others if column.num_distinct == column.num_rows > 1]
    if len(steps) < FEWEST_STEPS or (others and not names):
        return None
    sequence = data.sequence or (names[0] if names else "")
    static = data.static or tuple(column.name for column in others if column.name != sequence)
    sentence = f"one series per row, {len(steps)} steps: columns {steps[0]} to {steps[-1]}; set data.features=NAME,NAME to change them"
    about = f"series column '{sequence}'; set data.sequence=NAME to change it"
    return ColumnRoles(
        "future",
        sequence=sequence,
        reasons=(RoleReason("features", sentence), *_about("sequence", data.sequence, sequence, about)),
        evidence="a series in every row",
        static=static,
    )


def pick_time(columns: Mapping[str, ColumnProfile]) -> str:
    """The column with times, preferably one named so; with the time of day, if that is a column of its own."""
    if len(parts := _date_parts(columns)) > 1:
        return ",".join(parts)
    named = [name for name in columns if is_named(name, TIMESTAMP_NAMES)]
    dates = [name for name in columns if (form := _format_of(columns[name])) and form.is_unmistakable]
    best = [name for name in named if name in dates] or dates
    best = best or [name for name in named if _format_of(columns[name])]
    if not best:
        return ""
    time = best[0]
    clocks = [name for name, column in columns.items() if name != time and _holds(column, TIME_OF_DAY)]
    repeats = columns[time].num_distinct < columns[time].num_rows - columns[time].num_empty
    return f"{time},{clocks[0]}" if clocks and repeats and not _holds(columns[time], WITH_TIME) else time


def _date_parts(columns: Mapping[str, ColumnProfile]) -> list[str]:
    """The columns year, month, day, hour and minute, as far as there is no gap between them."""
    by_name = {name.lower(): name for name, column in columns.items() if column.is_whole}
    count = next((at for at, part in enumerate(DATE_PARTS) if part not in by_name), len(DATE_PARTS))
    return [by_name[part] for part in DATE_PARTS[:count]]


def _format_of(column: ColumnProfile) -> TimeFormat | None:
    return find_time_format(column.cells, name=column.name)


def _holds(column: ColumnProfile, pattern: re.Pattern[str]) -> bool:
    filled = [cell.strip() for cell in column.cells if cell.strip()]
    return bool(filled) and all(map(pattern.search, filled))


def _pick_sequence(
    rows: Sequence[Row], columns: Mapping[str, ColumnProfile], times: Sequence[str], data: DataSettings
) -> str:
    """The columns that tell rows of the same time apart, as few as possible; else a column named like one."""
    taken = {*times, *data.features, *data.known, *data.static, *names_of(data.target, list(columns))}
    usable = {
        name: column
        for name, column in columns.items()
        if name not in taken
        and not column.num_empty
        and column.num_distinct < column.num_rows
        and (not column.is_mostly_number or (column.is_whole and is_named(name, SERIES_NAMES)))
    }
    named = [name for name in usable if is_named(name, SERIES_NAMES)]
    if not times or _tells_apart(rows, times):
        return next((name for name in named if times or usable[name].num_distinct > 1), "")
    ordered = [*named, *(name for name in usable if name not in named)]
    for size in range(1, MOST_SERIES_COLUMNS + 1):
        for names in combinations(ordered, size):
            if _tells_apart(rows, [*times, *names]):
                return ",".join(names)
    return named[0] if named else ""


def _tells_apart(rows: Sequence[Row], names: Sequence[str]) -> bool:
    """Whether nearly all rows differ in some columns: a few may be repeated by mistake."""
    distinct = {tuple(cell_text(row.values.get(name)) for name in names) for row in rows}
    return len(distinct) >= MOSTLY * len(rows)


def _pick_target(names: Sequence[str], columns: Mapping[str, ColumnProfile]) -> str:
    """A number named like a target, else the first one that varies."""
    varying = [name for name in names if _varies(columns[name])] or list(names)
    exact = [name for usual in TARGET_NAMES for name in varying if name.lower() == usual]
    named = [name for usual in TARGET_NAMES for name in varying if is_named(name, [usual])]
    return next(iter([*exact, *named, *varying]), "")


def _varies(column: ColumnProfile) -> bool:
    return column.num_distinct > 1 and not (
        column.is_consecutive and column.num_distinct == column.num_rows > 2
    )


def _about(role: Role, given: str, chosen: str, sentence: str) -> tuple[RoleReason, ...]:
    return (RoleReason(role, sentence),) if chosen and not given else ()


def _about_time(columns: Mapping[str, ColumnProfile], times: Sequence[str]) -> str:
    cells = [cell for name in times for cell in columns[name].cells]
    zone = "; converted to UTC" if has_zone(cells) else ""
    return f"time column '{','.join(times)}'{zone}; set data.time=NAME to change it"

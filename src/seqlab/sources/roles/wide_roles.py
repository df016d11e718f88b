"""Roles in a table with one row per sequence and one numbered column per step: t0, t1, …, and a label."""

from __future__ import annotations

import re
from collections.abc import Mapping

from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.base import ColumnRoles, RoleReason
from seqlab.sources.roles.label_evidence import LEAST_POINTS, Table, is_measured, rank_labels
from seqlab.sources.settings import DataSettings

NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")
FEWEST_STEPS = 8
"""Fewer numbered columns may be separate measurements."""


def wide_roles(columns: Mapping[str, ColumnProfile], data: DataSettings) -> ColumnRoles | None:
    """The roles, or None if the table has no label or not enough numbered columns of numbers."""
    steps = list(data.features) or numbered_steps(columns)
    others = [column for name, column in columns.items() if name not in steps]
    label = data.label or _pick_label(others, list(columns))
    if not label and steps and columns[steps[0]].is_class and not columns[steps[-1]].is_class:
        label = steps[0]  # without a header, as the UCR archive has it
    steps = [name for name in steps if name != label]
    if not label or len(steps) < FEWEST_STEPS:
        return None
    about_steps = f"one sequence per row, {len(steps)} steps: columns {steps[0]} to {steps[-1]}; set data.features=NAME,NAME to change them"
    about_label = f"label column '{label}' ({columns[label].num_distinct} distinct values); set data.label=NAME to change it"
    reasons = (
        *([] if data.features else [RoleReason("features", about_steps)]),
        *([] if data.label else [RoleReason("label", about_label)]),
    )
    answer = "number" if is_measured(columns[label]) else "class"
    return ColumnRoles(
        answer,
        "",
        label,
        features=tuple(steps),
        reasons=reasons,
        evidence="a series in every row and a label",
    )


def numbered_steps(columns: Mapping[str, ColumnProfile]) -> list[str]:
    """The longest run of numeric columns whose names differ in a number that grows by one."""
    runs: list[list[str]] = [[]]
    before = ("", -1, "")
    for name, column in columns.items():
        match = NUMBERED.fullmatch(name) if column.is_mostly_number else None
        key = (match[1], int(match[2]), match[3]) if match else ("", -1, "")
        if match is None or key != (before[0], before[1] + 1, before[2]):
            runs.append([])
        if match is not None:
            runs[-1].append(name)
        before = key
    return max(runs, key=len)


def _pick_label(others: list[ColumnProfile], names: list[str]) -> str:
    """The likeliest label among the other columns; a number only if nothing else is left."""
    table = Table(names, [""] * (others[0].num_rows if others else 0))
    ranked = [one for one in rank_labels(others, table) if one.points >= LEAST_POINTS]
    return ranked[0].name if ranked else ""

"""Multi-label data with one binary column per label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from seqlab.sources.column_names import SIDE_NAMES, is_named
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.views.flag_columns import FLAGS

FEWEST_FLAGS = 3
"""Two binary columns may be two separate questions; three adjacent ones are a list of labels."""


def find_flags(columns: Mapping[str, ColumnProfile], text: Sequence[str]) -> list[str]:
    """The longest run of adjacent binary columns; empty if it is too short to be a list of labels."""
    left = [column for name, column in columns.items() if name not in text]
    runs = [[column.name for column in run] for is_run, run in groupby(left, key=_is_flag) if is_run]
    longest = max(runs, key=len, default=[])
    return longest if len(longest) >= FEWEST_FLAGS else []


def _is_flag(column: ColumnProfile) -> bool:
    values = {cell.strip().lower() for cell in column.cells if cell.strip()}
    return bool(values) and values <= FLAGS.keys() and not is_named(column.name, SIDE_NAMES)

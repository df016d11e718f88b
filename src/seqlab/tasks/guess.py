"""Guess the task for a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.core.errors import DataError
from seqlab.sources.base import PairSource, Source
from seqlab.sources.column_roles import ColumnRoles, find_roles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import TaskSpec, find_spec, task_specs

FUTURE = "future"
"""What a column of numbers over time holds: a pair has a target, too."""


@dataclass(frozen=True)
class TaskGuess:
    """A task and why it was chosen."""

    spec: TaskSpec
    reasons: list[str]


def guess_task(source: Source, data: DataSettings) -> TaskGuess:
    """Choose the first task, in guess order, that fits the data."""
    roles = _find_future(source, data) if asks_for_pairs(source, data) else find_roles(source, settings=data)
    specs = sorted((find_spec(name) for name in task_specs.names()), key=lambda spec: spec.guess_order)
    for spec in specs:
        if spec.fits(source, data, roles):
            return TaskGuess(spec, spec.why(source, data, roles))
    raise DataError(
        "no task fits this data.", where=source.name, cure="Set one: task=NAME (seqlab list tasks)."
    )


def _find_future(source: Source, data: DataSettings) -> ColumnRoles | None:
    """Return the roles of a time series whose target is named; None for pairs."""
    if data.source or not data.target:
        return None
    try:
        roles = find_roles(source, settings=data)
    except DataError:
        return None
    return roles if roles.answer == FUTURE else None


def asks_for_pairs(source: Source, data: DataSettings) -> bool:
    """Whether a source or target column is set, or the format has pairs and no text or label column is set."""
    return bool(data.source or data.target) or (
        isinstance(source, PairSource) and not (data.text or data.label)
    )

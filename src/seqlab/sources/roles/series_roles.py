"""A table of numbers with one row per step: which column names the sequence, which the label, which are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.column_names import (
    LABEL_NAMES,
    SEQUENCE_NAMES,
    STEP_NAMES,
    TAG_NAMES,
    is_named,
)
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.base import Answer, ColumnRoles, RoleReason
from seqlab.sources.roles.future_roles import future_roles, is_time_series, wide_future_roles
from seqlab.sources.roles.label_evidence import is_measured
from seqlab.sources.roles.wide_roles import wide_roles
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.series import no_features


def series_roles(
    source: Source, rows: Sequence[Row], columns: Mapping[str, ColumnProfile], data: DataSettings
) -> ColumnRoles:
    """The roles in a table without text."""
    sequence = data.sequence or _pick_sequence(columns, taken=data.label)
    if not sequence and (wide := wide_roles(columns, data)):
        return wide
    label = data.label or (_pick_label(rows, columns, sequence=sequence) if sequence else "")
    features = data.features or tuple(
        name
        for name, column in columns.items()
        if column.is_mostly_number and name not in (sequence, label) and name.lower() not in STEP_NAMES
    )
    if sequence and label and not features:
        raise no_features(source.name)
    about_sequence = [] if data.sequence else [RoleReason("sequence", _about_sequence(sequence))]
    if sequence and not label and (tags := _pick_tags(columns, taken=(sequence, *features))):
        sentence = f"tag column '{tags}' (changes within a sequence); set data.label=NAME to change it"
        reasons = (*about_sequence, RoleReason("label", sentence))
        evidence = "numbers and a tag for every step"
        return ColumnRoles("tags", "", tags, sequence, features, reasons, evidence=evidence)
    if not (sequence and label):
        future = None if data.label else _future_roles(rows, columns, data)
        if future is None:
            raise _nothing_found(source)
        return future
    about_label = f"label column '{label}' (constant within a sequence); set data.label=NAME to change it"
    about_features = (
        f"{len(features)} number{'' if len(features) == 1 else 's'} per step ({', '.join(features[:6])}); set"
        " data.features=NAME,NAME to change them"
    )
    reasons = (
        *about_sequence,
        *([] if data.label else [RoleReason("label", about_label)]),
        *([] if data.features else [RoleReason("features", about_features)]),
    )
    answer: Answer = "number" if is_measured(columns.get(label)) else "class"
    return ColumnRoles(answer, "", label, sequence, features, reasons, evidence="numbers and a label")


def _future_roles(
    rows: Sequence[Row], columns: Mapping[str, ColumnProfile], data: DataSettings
) -> ColumnRoles | None:
    return future_roles(rows, columns, data) if is_time_series(columns) else wide_future_roles(columns, data)


def _about_sequence(sequence: str) -> str:
    return f"sequence column '{sequence}' (one row per step); set data.sequence=NAME to change it"


def _nothing_found(source: Source) -> DataError:
    return DataError(
        f"none of the columns ({', '.join(source.columns)}) looks like text, and they do not look"
        " like labeled series.",
        where=source.name,
        cure=(
            "Name the columns: data.text=NAME data.label=NAME for text, or data.sequence=NAME"
            " data.label=NAME for a series with one row per step."
        ),
    )


def _pick_sequence(columns: Mapping[str, ColumnProfile], *, taken: str) -> str:
    """A column whose values form consecutive blocks, each value in one block only; a constant says nothing."""
    blocks = [
        name
        for name, column in columns.items()
        if name != taken
        and not column.num_empty
        and 1 < column.num_distinct == column.num_runs < column.num_rows
    ]
    named = [name for usual in SEQUENCE_NAMES for name in blocks if name.lower() == usual]
    ids = [name for name in blocks if name.lower().endswith("id")]
    finest = sorted(blocks, key=lambda name: -columns[name].num_runs)
    return next(iter([*named, *ids, *finest]), "")


def _pick_label(rows: Sequence[Row], columns: Mapping[str, ColumnProfile], *, sequence: str) -> str:
    def is_constant(name: str) -> bool:
        seen: dict[object, object] = {}
        return all(
            seen.setdefault(str(row.values[sequence]), row.values[name]) == row.values[name] for row in rows
        )

    constant = {name: column for name, column in columns.items() if name != sequence and is_constant(name)}
    classes = [name for name, column in constant.items() if not column.is_number or column.is_whole]
    return _by_name(constant, LABEL_NAMES) or (classes[-1] if classes else "")


def _pick_tags(columns: Mapping[str, ColumnProfile], *, taken: Sequence[str]) -> str:
    """A column of classes next to the numbers of a step."""
    classes = {
        name: column
        for name, column in columns.items()
        if name not in taken and column.is_class and not column.is_number
    }
    return _by_name(classes, (*TAG_NAMES, *LABEL_NAMES)) or next(iter(classes), "")


def _by_name(columns: Mapping[str, ColumnProfile], names: Sequence[str]) -> str:
    fitting = list(columns)
    exact = [name for usual in names for name in fitting if name.lower() == usual]
    ending = [name for usual in names for name in fitting if is_named(name, [usual])]
    return next(iter(exact + ending), "")

"""JSON objects as rows: nested objects become columns with dotted names, such as ticket.body."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, source_name
from seqlab.sources.formats.chat_turns import prompt_and_response
from seqlab.sources.formats.row_file import RowFile
from seqlab.sources.formats.spans import holds_spans
from seqlab.sources.lone_surrogates import reject_lone_surrogates
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of

SKIP = "Fix the line, or skip such rows with data.bad_rows=skip."
DEEPEST = 4
"""Levels of nested objects that become columns; deeper objects stay one value."""
LABEL_KEYS = ("name", "label", "labels", "choices", "category", "tag")
"""Keys that are read from the objects of a list: one column for all their values."""
SAMPLE = 200
"""Objects whose keys are the columns."""
KINDS = {list: "an array", str: "a string", type(None): "null", bool: "true or false"}


class JsonObjects(RowFile):
    """Objects as rows. The keys of the first objects are the columns; those of objects inside them have dotted
    names.

    A missing key is an empty cell, unless the settings name the column.
    """

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = source_name(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self.settings = settings
        first = BadRows.of(settings.bad_rows).limited(self.read_objects)
        self.columns = columns_of(islice(first, SAMPLE))
        self._required = required_columns(settings, self.columns)

    @abstractmethod
    def read_objects(self, reading: Pass) -> Iterator[Row]:
        """Every object with its own keys."""

    @abstractmethod
    def objects(self) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        """Every value of the file, and its cells by column: None if it is not usable as a row."""

    def read_rows(self, reading: Pass) -> Iterator[Row]:
        for row in self.read_objects(reading):
            if missing := missing_key(row, self._required):
                reading.reject(lacks_key(row, missing, self.columns))
            else:
                yield with_all_columns(row, self.columns)


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


# Made once: json.loads with options would make one for every line.
DECODER = json.JSONDecoder(parse_constant=_reject_constant)


def unusable(error: ValueError | RecursionError, *, where: str) -> DataError:
    """The error for valid JSON that cannot be used."""
    what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return DataError(f"unusable JSON ({what}).", where=where, cure=SKIP)


def as_values(value: Any, *, where: str, escaped: bool) -> dict[str, Any]:
    """The cells of an object by column name. escaped: the JSON contains \\u, so it may contain half a
    surrogate pair.
    """
    if not isinstance(value, dict):
        raise DataError(
            f"{KINDS.get(type(value), 'a number')}, expected an object.",
            where=where,
            cure='Each row must look like {"text": "…", "label": "…"}.',
        )
    if any(type(cell) in (dict, list) for cell in value.values()):
        value = flat(value)
    if escaped:
        reject_lone_surrogates(value, where=where, cure=SKIP)
    return value


def flat(value: dict[str, Any], *, prefix: str = "", level: int = 1) -> dict[str, Any]:
    """
    >>> flat({"id": 1, "ticket": {"body": "hello", "by": {"name": "Ada"}}, "empty": {}})
    {'id': 1, 'ticket.body': 'hello', 'ticket.by.name': 'Ada', 'empty': {}}
    >>> flat({"labels": [{"name": "bug", "color": "red"}, {"name": "ui", "color": "blue"}]})
    {'labels.name': ['bug', 'ui']}
    >>> flat({"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]})
    {'messages.prompt': '2 + 2?', 'messages.response': '4'}
    """
    cells: dict[str, Any] = {}
    for key, cell in value.items():
        if isinstance(cell, dict) and cell and level < DEEPEST:
            cells |= flat(cell, prefix=f"{prefix}{key}.", level=level + 1)
        elif isinstance(cell, list) and (turns := prompt_and_response(cell)):
            cells |= {f"{prefix}{key}.{name}": text for name, text in turns.items()}
        elif isinstance(cell, list) and (labels := _labels_in(cell, level=level)):
            cells |= {f"{prefix}{key}.{name}": parts for name, parts in labels.items()}
        else:
            cells[prefix + key] = cell
    return cells


def _labels_in(parts: list[Any], *, level: int) -> dict[str, list[Any]]:
    """The labels inside the objects of a list, by their path; empty if the list contains
    other values.

    >>> _labels_in([{"result": [{"type": "choices", "value": {"choices": ["A"]}}]}, {"result": []}], level=1)
    {'result.value.choices': ['A']}
    """
    labels: dict[str, list[Any]] = {}
    if level >= DEEPEST or not all(isinstance(part, dict) for part in parts) or holds_spans(parts):
        return labels
    for part in parts:
        for name, cell in flat(part, level=level + 1).items():
            if name.rpartition(".")[2] in LABEL_KEYS:
                labels.setdefault(name, []).extend(cell if isinstance(cell, list) else [cell])
    return labels


def columns_of(rows: Iterable[Row]) -> list[str]:
    """The keys of some objects, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row.values))


def required_columns(settings: DataSettings, columns: list[str]) -> list[str]:
    """The columns named in the settings: a row without one of them is unusable."""
    texts = names_of(settings.text, columns)
    sides = (settings.label, settings.source, settings.target, settings.sequence, *settings.features)
    return [name for name in (*texts, *sides) if name in columns]


def missing_key(row: Row, required: Iterable[str]) -> str:
    """The first required column that a row lacks; empty if it has all. An empty list does not lack what the
    objects in it would contain.
    """
    return next(
        (name for name in required if name not in row.values and not _is_in_empty_list(row, name)), ""
    )


def _is_in_empty_list(row: Row, name: str) -> bool:
    while name := name.rpartition(".")[0]:
        if row.values.get(name) == []:
            return True
    return False


def lacks_key(row: Row, name: str, columns: list[str]) -> DataError:
    return DataError(
        f"the key '{name}' is missing; the first objects have {','.join(columns)}.",
        where=row.where,
        cure=(
            "Add it, name the columns you need with data.text and data.label, or skip such rows with"
            " data.bad_rows=skip."
        ),
    )


def with_all_columns(row: Row, columns: list[str]) -> Row:
    """The row with None in the columns that it lacks."""
    if all(name in row.values for name in columns):
        return row
    return Row({**dict.fromkeys(columns), **row.values}, row.file, row.line)

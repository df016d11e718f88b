"""A table in one JSON object: by column or by row, as pandas writes it, or deep inside the answer of a web service.

{"text": {"0": "good", "1": "bad"}, "label": {"0": "pos", "1": "neg"}}     to_json(), the default
{"text": ["good", "bad"], "label": ["pos", "neg"]}                         to_dict("list")
{"0": {"text": "good", "label": "pos"}, "1": {…}}                          to_json(orient="index")
{"feed": {"entry": [{"text": "good", "label": "pos"}, {…}]}}               a web service
"""

from __future__ import annotations

from typing import Any

FEWEST_ROWS = 2


def rows_of_object(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table in an object; empty if it is not a table.

    >>> rows_of_object({"text": ["good", "bad"], "label": [1, 0]})
    [{'text': 'good', 'label': 1}, {'text': 'bad', 'label': 0}]
    >>> rows_of_object({"a": {"text": "good", "label": 1}, "b": {"text": "bad", "label": 0}, "c": {"text": "x"}})
    [{'text': 'good', 'label': 1}, {'text': 'bad', 'label': 0}, {'text': 'x'}]
    >>> rows_of_object({"text": "good", "label": 1})
    []
    """
    parts = list(table.values())
    if all(isinstance(part, list) for part in parts):
        columns = {name: dict(enumerate(part)) for name, part in table.items()}
        return _transposed(columns) if len(table) > 1 else []
    if not all(isinstance(part, dict) for part in parts):
        return []
    return _transposed(table) if _is_by_column(table) else parts if len(parts) >= FEWEST_ROWS else []


def nested_rows(answer: dict[str, Any]) -> tuple[str, list[Any]]:
    """The longest array of objects below an object, and its path; empty if the object has as many keys: then it may
    be a table whose rows contain arrays.

    >>> nested_rows({"kind": "Listing", "data": {"children": [{"text": "good"}, {"text": "bad"}, {"text": "x"}]}})
    ('data.children', [{'text': 'good'}, {'text': 'bad'}, {'text': 'x'}])
    >>> nested_rows({"a": {"tags": [{"n": 1}]}, "b": {"tags": []}})
    ('', [])
    """
    path, rows = "", list[Any]()
    below = list(answer.items())
    while below:
        name, value = below.pop()
        if isinstance(value, dict):
            below += [(f"{name}.{key}", part) for key, part in value.items()]
        elif isinstance(value, list) and len(value) > len(rows) and isinstance(value[0], dict):
            path, rows = name, value
    return (path, rows) if len(rows) > len(answer) else ("", [])


def _is_by_column(table: dict[str, dict[str, Any]]) -> bool:
    """Whether the outer keys are columns: the inner ones are row numbers, or outnumber them and are the same everywhere."""
    inner = list(next(iter(table.values())))
    if any(list(part) != inner for part in table.values()):
        return False
    return all(map(str.isdecimal, inner)) or (len(inner) > len(table) and not all(map(str.isdecimal, table)))


def _transposed(columns: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [list(column) for column in columns.values()]
    if any(row != rows[0] for row in rows) or len(rows[0]) < FEWEST_ROWS:
        return []
    return [{name: column[row] for name, column in columns.items()} for row in rows[0]]

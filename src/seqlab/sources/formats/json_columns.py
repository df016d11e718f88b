"""A table in one JSON object: by column or by row, as pandas writes it.

{"text": {"0": "good", "1": "bad"}, "label": {"0": "pos", "1": "neg"}}     to_json(), the default
{"text": ["good", "bad"], "label": ["pos", "neg"]}                         to_dict("list")
{"0": {"text": "good", "label": "pos"}, "1": {…}}                          to_json(orient="index")
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

"""Spans in JSON: parts of a text that are marked by where they start and end."""

from __future__ import annotations


def holds_spans(value: object) -> bool:
    """
    >>> holds_spans([{"start": 0, "end": 3, "label": "PER"}]), holds_spans([[0, 3, "PER"]])
    (True, True)
    >>> holds_spans([{"value": {"start": 0, "end": 3}}]), holds_spans([{"start": "May", "name": "x"}]), holds_spans([1])
    (True, False, False)
    """
    if isinstance(value, dict):
        return is_span(value) or any(map(holds_spans, value.values()))
    if isinstance(value, list):
        return [type(part) for part in value] == [int, int, str] or any(map(holds_spans, value))
    return False


def is_span(value: dict[str, object]) -> bool:
    return all(type(value.get(side)) is int for side in ("start", "end"))

"""Span annotations in JSON: parts of a text marked by start and end offsets."""

from __future__ import annotations

LABELS = ("label", "labels", "type", "tag", "class")


def holds_spans(value: object, *, labeled: bool = False) -> bool:
    """labeled: only spans with a label count.

    >>> holds_spans([{"start": 0, "end": 3, "label": "PER"}]), holds_spans([[0, 3, "PER"]])
    (True, True)
    >>> holds_spans([{"value": {"start": 0, "end": 3}}]), holds_spans([{"start": "May", "name": "x"}]), holds_spans([1])
    (True, False, False)
    >>> holds_spans([{"start": 0, "end": 3, "id": 0}], labeled=True), holds_spans([[0, 3, "PER"]], labeled=True)
    (False, True)
    """
    waiting = [value]  # without recursion: JSON may be nested as deeply as the parser allows
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if is_span(part) and (not labeled or any(name in part for name in LABELS)):
                return True
            waiting += part.values()
        elif isinstance(part, list):
            if [type(entry) for entry in part] == [int, int, str]:
                return True
            waiting += part
    return False


def is_span(value: dict[str, object]) -> bool:
    return all(type(value.get(side)) is int for side in ("start", "end"))

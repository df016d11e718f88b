"""The journal of a run: one line per event, only ever appended to."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from seqlab.core.files import explain_full_disk

ENDINGS = ("finished", "interrupted", "not_finite")


class Journal:
    """Writes events as JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, event: str, **facts: Any) -> None:
        entry = {"event": event, "time": round(time.time(), 3), **_plain(facts)}
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
        with explain_full_disk(self._path, needed=len(line)), self._path.open("ab") as file:
            file.write(line)

    def repair(self) -> None:
        """End a line that was torn, so that the next event has a line of its own."""
        if self._path.is_file() and not self._path.read_bytes().endswith(b"\n"):
            with self._path.open("ab") as file:
                file.write(b"\n")


def read_journal(path: Path) -> list[dict[str, Any]]:
    """All events as they count: what happened after the point that a resume went back to is left out, and so
    is a torn line.
    """
    events: list[dict[str, Any]] = []
    if not path.is_file():
        return events
    for line in path.read_bytes().decode("utf-8", errors="replace").split("\n"):
        event = _read_event(line)
        if event is None:
            continue
        if event["event"] == "resumed":
            events = [
                earlier
                for earlier in events
                if earlier["step"] <= event["step"] and earlier["event"] not in ENDINGS
            ]
        events.append(event)
    return events


def _read_event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(event, dict)
        or not isinstance(event.get("event"), str)
        or not isinstance(event.get("step"), int)
    ):
        return None
    return event


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value

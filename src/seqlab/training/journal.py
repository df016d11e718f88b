"""The journal of a run: one line per event, only ever appended to."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any


class Journal:
    """Writes events as JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, event: str, **facts: Any) -> None:
        entry = {"event": event, "time": round(time.time(), 3), **{name: _plain(value) for name, value in facts.items()}}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def read_journal(path: Path) -> list[dict[str, Any]]:
    """All events as they count: what happened after the point that a resume went back to is left out, and so is a torn last line."""
    events: list[dict[str, Any]] = []
    if not path.is_file():
        return events
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == "resumed":
            events = [earlier for earlier in events if earlier.get("step", 0) <= event["step"]]
        events.append(event)
    return events


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

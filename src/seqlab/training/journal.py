"""The journal of a run: an append-only file with one line per event."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from seqlab.core.digests import FileRecord, record_of
from seqlab.core.errors import RunError, shortened
from seqlab.core.files import explain_full_disk, megabytes

ENDINGS = ("finished", "interrupted", "not_finite")
LARGEST_JOURNAL = 30_000_000
"""In bytes; a run writes a few hundred lines, plus one for every validation."""
LARGEST_NUMBER = sys.float_info.max
NUMBERS = ("epoch", "loss", "learning_rate", "gradient_norm", "train_loss", "train_accuracy", "seconds")


class Journal:
    """Writes events as JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, event: str, **facts: Any) -> None:
        entry = {"event": event, "time": round(time.time(), 3), **_plain(facts)}
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
        with explain_full_disk(self._path, needed=len(line)), self._path.open("ab") as file:
            file.write(line)

    def record(self) -> FileRecord:
        """Size and digest of what is written so far, which is on the disk by then."""
        if not self._path.is_file():
            return record_of(b"")
        with self._path.open("r+b") as file:
            os.fsync(file.fileno())
            return record_of(file.read())

    def rewind(self, record: Mapping[str, Any]) -> None:
        """Go back to what was recorded with a checkpoint; later lines are of steps that a resume repeats.

        Rejects a journal whose beginning is not as recorded. One that was moved away starts again.
        """
        if not self._path.is_file():
            return
        with self._path.open("r+b") as file:
            if record_of(file.read(record["size"]))["sha256"] != record["sha256"]:
                raise changed_journal(self._path)
            file.truncate(record["size"])

    def repair(self) -> None:
        """Terminate a line that was cut off, so that the next event starts on a new line."""
        if not self._path.is_file():
            return
        with self._path.open("r+b") as file:
            if not file.seek(0, os.SEEK_END):
                return
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def changed_journal(path: Path) -> RunError:
    return RunError("the journal was changed or cut after training wrote it.", where=str(path), cure=RESTORE)


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Read all events, except incomplete lines and events that a resume went back before. Raises a RunError
    if a value has the wrong type.
    """
    events: list[dict[str, Any]] = []
    if not path.is_file():
        return events
    if (size := path.stat().st_size) > LARGEST_JOURNAL:
        what = f"the journal has {megabytes(size)}, more than {megabytes(LARGEST_JOURNAL)}."
        raise RunError(what, where=str(path), cure=MOVE)
    for number, line in enumerate(path.read_bytes().decode("utf-8", errors="replace").split("\n"), start=1):
        event = _read_event(line)
        if event is None:
            continue
        _check_facts(event, where=f"{path}, line {number}")
        if event["event"] == "resumed":
            events = [
                earlier
                for earlier in events
                if earlier["step"] <= event["step"] and earlier["event"] not in ENDINGS
            ]
        events.append(event)
    return events


def started_event(events: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the journal says about the start of a run; empty where it says nothing."""
    return next((event for event in events if event["event"] == "started"), {})


WITHOUT = "move it away: a run can be resumed and reported without it."
MOVE = f"It was not written by seqlab. Repair it, or {WITHOUT}"
RESTORE = f"Restore it from a copy, or {WITHOUT}"


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


def _check_facts(event: dict[str, Any], *, where: str) -> None:
    """Check the types of values that reports plot and that a resumed run shows again."""
    numbers = [name for name in event if name in NUMBERS or name.startswith("valid_")]
    wrong = [name for name in numbers if not _is_number(event[name])]
    wrong += [name for name in ("sample",) if not isinstance(event.get(name, ""), str)]
    warnings = event.get("warnings", [])
    if not isinstance(warnings, list) or not all(isinstance(warning, str) for warning in warnings):
        wrong.append("warnings")
    if isinstance(event["step"], bool) or event["step"] < 0:
        wrong.append("step")
    if wrong:
        what = f"{wrong[0]} is {shortened(json.dumps(event[wrong[0]]))}, which is not a valid value in a journal."
        raise RunError(what, where=where, cure=MOVE)


def _is_number(value: object) -> bool:
    """Or None. An integer that no float can hold is none: reports compute with floats."""
    return isinstance(value, float | None) or (isinstance(value, int) and abs(value) <= LARGEST_NUMBER)


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value

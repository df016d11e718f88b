"""choices.json: what was chosen on the validation data after training, such as a temperature or thresholds, and belongs to the weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.tasks.base import Task
from seqlab.tokens.untrusted_json import read_json_object

CHOICES = "choices.json"
LARGEST_FILE = 10_000_000
RESTORE = "Restore the file that was written here, or remove it: what it adjusts then stays as the network has it."


def write_choices(folder: Path, choices: dict[str, Any], *, seal: str) -> None:
    """Nothing is written where a task chooses nothing."""
    if choices:
        write_whole(folder / CHOICES, json.dumps({"run": seal, "choices": choices}, ensure_ascii=False, indent=1, allow_nan=False))


def take_choices(folder: Path, task: Task, *, seal: str) -> None:
    """Hand the choices of a run to its task; a run without any, made before there were some, is used as it is."""
    path = folder / CHOICES
    if not path.is_file():
        return
    found = read_json_object(path, largest=LARGEST_FILE)
    if found.get("run") != seal:
        raise RunError("the choices belong to another run.", where=str(path), cure=RESTORE)
    choices = found.get("choices")
    try:
        if not isinstance(choices, dict):
            raise ValueError("there are none")
        task.take(choices)
    except ValueError as error:
        raise RunError(f"the choices cannot be right: {error}.", where=str(path), cure=RESTORE) from error

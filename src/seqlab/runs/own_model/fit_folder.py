"""The folder of a fit: what it was started with, so that it can be resumed exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.runs.folder.layout import CHECKPOINTS
from seqlab.tokens.untrusted_json import read_json_object
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints

FIT = "fit.json"
FORMAT, LARGEST_FILE = 1, 100_000
CAN_CHANGE = ("threads", "device")
"""Settings that may differ when a fit is resumed."""


@dataclass(frozen=True)
class FitRecord:
    """What a resumed fit must have in common with the interrupted one."""

    run_id: str
    threads: int
    settings: Mapping[str, Any]
    monitor: str
    train: int
    """Number of training examples."""
    valid: int
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        write_whole(folder / FIT, json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, folder: Path) -> Self:
        raw: dict[str, Any] = read_json_object(folder / FIT, largest=LARGEST_FILE)
        types = {"run_id": str, "threads": int, "settings": dict, "monitor": str, "train": int, "valid": int}
        is_valid = all(isinstance(raw.get(name), kind) for name, kind in types.items())
        if raw.get("format") != FORMAT or not is_valid or raw.keys() != {*types, "format"}:
            raise RunError(
                "the file is damaged or of another version.",
                where=str(folder / FIT),
                cure="Restore it from a copy, or choose another out=.",
            )
        return cls(**raw)

    def reject_changes(self, now: FitRecord, *, where: Path) -> None:
        """Reject what would silently make a resumed fit another one."""
        pairs = {name: (getattr(self, name), getattr(now, name)) for name in ("monitor", "train", "valid")}
        pairs |= {
            name: (self.settings.get(name), value)
            for name, value in now.settings.items()
            if name not in CAN_CHANGE
        }
        changed = [
            f"{name} was {old!r} and is now {new!r}" for name, (old, new) in pairs.items() if old != new
        ]
        if changed:
            raise RunError(
                f"the fit was started differently: {'; '.join(changed)}.",
                where=str(where),
                cure="Continue with the same data and settings, or choose another out=.",
            )


def is_begun(folder: Path) -> bool:
    return (folder / FIT).is_file()


def newest_checkpoint(folder: Path, *, run_id: str) -> Checkpoint:
    """Load the newest intact checkpoint."""
    checkpoint, problems = Checkpoints(folder / CHECKPOINTS, run_id=run_id).load()
    if checkpoint is None:
        raise RunError(
            f"there is no intact checkpoint to resume from{f': {problems[0]}' if problems else '.'}",
            where=str(folder),
            cure="Restore one from a copy, or choose another out=.",
        )
    return checkpoint

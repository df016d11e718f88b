"""Who is writing to the folder of a run, and what killed writers left in it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.core.errors import EnvironmentProblem, RunError
from seqlab.runs.folder.layout import CHECKPOINTS, JOURNAL, LOCK, MANIFEST, TOKENS


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder for writing. The system lets go when the process ends, however it ends."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise EnvironmentProblem(
            f"the folder cannot be written to ({error.strerror}).",
            where=str(folder),
            cure="Change its rights, or choose another --out.",
        ) from error
    with os.fdopen(handle, "r+", encoding="ascii", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = file.read(20).strip() or "unknown"
            raise RunError(
                f"process {owner} is training in this folder.",
                where=str(folder),
                cure=f"Wait for it, stop it (kill {owner}), or choose another --out.",
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        _sweep(folder)
        yield


def _sweep(folder: Path) -> None:
    """Remove what killed processes left half written. Only under the lock: nobody else is writing here."""
    for path in [
        *folder.glob(".*.tmp"),
        *(folder / TOKENS).glob(".*.tmp"),
        *(folder / CHECKPOINTS).glob(".last.*"),
    ]:
        path.unlink(missing_ok=True)
    for path in (folder / CHECKPOINTS).glob("tmp-*"):
        shutil.rmtree(path, ignore_errors=True)


def clear_false_start(folder: Path) -> None:
    """Remove what a run left that was killed before its first step."""
    for name in (TOKENS, CHECKPOINTS):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (MANIFEST, JOURNAL):
        (folder / name).unlink(missing_ok=True)

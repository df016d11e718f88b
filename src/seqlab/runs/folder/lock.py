"""Lock a run folder for writing, and clean up after killed processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.core.locks import lock_file
from seqlab.runs.folder.layout import CHECKPOINTS, JOURNAL, LOCK, LOCK_OWNER, MANIFEST, TOKENS


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run folder for writing. The system releases the lock when the process ends for any reason."""
    with lock_file(
        folder / LOCK, wait=False, cure="Change its permissions, or choose another --out."
    ) as is_mine:
        if not is_mine:
            raise _already_training(folder)
        write_whole(folder / LOCK_OWNER, str(os.getpid()))
        _sweep(folder)
        yield


def _already_training(folder: Path) -> RunError:
    """Name the process, which is stored in a separate file because Windows cannot read a locked one."""
    try:
        with (folder / LOCK_OWNER).open(encoding="ascii", errors="replace") as file:
            owner = file.read(20)
    except OSError:  # the other process has just taken the lock
        owner = ""
    process, stop = (
        (f"process {owner}", f", stop it (kill {owner})") if owner.isdecimal() else ("another process", "")
    )
    return RunError(
        f"{process} is training in this folder.",
        where=str(folder),
        cure=f"Wait for it{stop}, or choose another --out.",
    )


def _sweep(folder: Path) -> None:
    """Remove incomplete files of killed processes. Call it only under the lock, when no other process is
    writing.
    """
    for path in [
        *folder.glob(".*.tmp"),
        *(folder / TOKENS).glob(".*.tmp"),
        *(folder / CHECKPOINTS).glob(".last.*"),
    ]:
        path.unlink(missing_ok=True)
    for path in (folder / CHECKPOINTS).glob("tmp-*"):
        shutil.rmtree(path, ignore_errors=True)


def clear_false_start(folder: Path) -> None:
    """Remove the remains of a run that was killed before its first step."""
    for name in (TOKENS, CHECKPOINTS):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (MANIFEST, JOURNAL):
        (folder / name).unlink(missing_ok=True)

"""Locks on files, held across processes on every system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.core.errors import EnvironmentProblem


@contextmanager
def lock_file(path: Path, *, wait: bool, cure: str) -> Iterator[bool]:
    """Hold the lock of a file; yields False if `wait` is off and another process holds it.

    The system releases the lock when the process ends, however it ends. A symbolic link is not
    followed. The content of the file is irrelevant: on Windows other processes cannot even read it.
    """
    from filelock import FileLock, Timeout  # most commands take no lock

    with explain_unwritable(path.parent, cure=cure):
        path.parent.stat()  # FileLock would create a missing folder
        lock = FileLock(path)
        try:
            lock.acquire(blocking=wait)
        except Timeout:
            is_mine = False
        else:
            is_mine = True
    try:
        yield is_mine
    finally:
        if is_mine:
            lock.release()


@contextmanager
def explain_unwritable(folder: Path, *, cure: str) -> Iterator[None]:
    """Turn a write error into a message that names the folder and what to do."""
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(
            f"the folder cannot be written to ({error.strerror}).", where=str(folder), cure=cure
        ) from error

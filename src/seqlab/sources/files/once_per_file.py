"""What a process knows about a file, computed again only when the file has changed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

Answer = TypeVar("Answer")
MOST_KEPT = 1000
SETTLED = 2_000_000_000
"""Nanoseconds after a change in which another one may leave the same time: file systems count in steps of up to two
seconds.
"""


class FileState(NamedTuple):
    """A file as it is now: with another content, one of these is another."""

    path: Path
    inode: int
    size: int
    changed: int


def once_per_file(compute: Callable[[Path], Answer]) -> Callable[[Path], Answer]:
    """Keep what `compute` says about each state of a file. What was changed a moment ago is computed again."""
    known: dict[FileState, Answer] = {}

    @functools.wraps(compute)
    def compute_once(path: Path) -> Answer:
        state = _settled_state(path)
        if state in known:
            return known[state]
        answer = compute(path)
        if state is not None and state == _settled_state(path):
            if len(known) >= MOST_KEPT:
                known.clear()
            known[state] = answer
        return answer

    return compute_once


def _settled_state(path: Path) -> FileState | None:
    """None where there is no file, or where it was changed too recently."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # said in words where it is read
        return None
    age = time.time_ns() - status.st_mtime_ns
    return (
        FileState(path.absolute(), status.st_ino, status.st_size, status.st_mtime_ns)
        if age > SETTLED
        else None
    )

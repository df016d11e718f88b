"""Cached facts about files, recomputed only when a file has changed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

Answer = TypeVar("Answer")
MOST_KEPT = 1000
SETTLED = 2_000_000_000
"""Nanoseconds within which two changes may get the same timestamp: file systems have a resolution of up to two
seconds.
"""


class FileState(NamedTuple):
    """The state of a file; if its content changes, so does one of these values."""

    path: Path
    inode: int
    size: int
    changed: int


def once_per_file(compute: Callable[[Path], Answer]) -> Callable[[Path], Answer]:
    """Cache the result of `compute` for each state of a file. Recently changed files are not cached."""
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
    """None if there is no file, or if it was changed too recently."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # reported where it is read
        return None
    age = time.time_ns() - status.st_mtime_ns
    return (
        FileState(path.absolute(), status.st_ino, status.st_size, status.st_mtime_ns)
        if age > SETTLED
        else None
    )

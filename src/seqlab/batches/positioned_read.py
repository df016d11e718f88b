"""Read a part of an open file at a position, from several threads at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_seeking = threading.Lock()


def open_for_reading(path: Path) -> int:
    """A file descriptor whose bytes are never translated; Windows would change line ends."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


def read_into(handle: int, buffer: memoryview, position: int) -> int:
    """Fill a buffer from a position on; returns the number of bytes, which may be fewer.

    Windows has no `preadv`. There the position belongs to the file, so one thread at a time moves it.
    """
    if hasattr(os, "preadv"):
        return os.preadv(handle, [buffer], position)
    with _seeking:
        os.lseek(handle, position, os.SEEK_SET)
        content = os.read(handle, buffer.nbytes)
    buffer.cast("B")[: len(content)] = content
    return len(content)

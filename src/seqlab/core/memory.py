"""Memory that is given back and asked for again at every update."""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = (1 << 31) - 1


def keep_freed_memory() -> bool:
    """Ask the C library to keep what is freed instead of handing it back to the system; whether it does.

    A gradient of fifty megabytes is made and dropped at every update. By default each comes fresh from the system, page by page and full of
    zeros, which can take longer than the arithmetic; kept memory is there at once. The process holds its peak until it ends.
    """
    if sys.platform != "linux":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library than glibc
        return False
    return bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER))

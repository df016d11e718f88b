"""How much memory the process holds, and what becomes of freed memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = (1 << 31) - 1


def keep_freed_memory() -> bool:
    """Ask the C library to keep what is freed instead of handing it back to the system; whether it does.

    A gradient of fifty megabytes is made and dropped at every update. By default each comes fresh from the
    system, page by page and full of zeros, which can take longer than the arithmetic; kept memory is there at
    once. The process holds its peak until somebody asks for it.
    """
    mallopt = _of_the_c_library("mallopt")
    return mallopt is not None and bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER))


def give_back_freed_memory() -> bool:
    """Hand the system all pages in which nothing is kept any more; whether there were any.

    Batches of many lengths leave holes of many sizes between what is still in use, and the C library itself
    gives back only what lies behind the last of it: now and then somebody has to ask.
    """
    trim = _of_the_c_library("malloc_trim")
    return trim is not None and bool(trim(0))


def peak_memory() -> int | None:
    """Bytes of memory at the peak of this process; None where the system does not tell (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts in bytes, Linux in kilobytes


def _of_the_c_library(name: str) -> Callable[..., int] | None:
    """A function that glibc has and others may not have."""
    if sys.platform != "linux":
        return None
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None

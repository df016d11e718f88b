"""Peak memory of the process, and the handling of freed memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = (1 << 31) - 1


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory instead of returning it to the system; returns whether it does.

    A gradient of fifty megabytes is allocated and freed at every update. By default each comes from the
    system, page by page and zeroed, which can take longer than the arithmetic; kept memory is available at
    once. The process keeps its peak until `give_back_freed_memory` is called.
    """
    mallopt = _glibc_function("mallopt")
    return mallopt is not None and bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER))


def give_back_freed_memory() -> bool:
    """Return all unused pages to the system; returns whether there were any.

    Batches of many lengths fragment the heap, and the C library by itself
    only returns memory at its end, so this must be called now and then.
    """
    trim = _glibc_function("malloc_trim")
    return trim is not None and bool(trim(0))


def peak_memory() -> int | None:
    """Bytes of memory at the peak of this process; None if the system does not report it (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts in bytes, Linux in kilobytes


def _glibc_function(name: str) -> Callable[..., int] | None:
    """A function of glibc that other C libraries may lack."""
    if sys.platform != "linux":
        return None
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None

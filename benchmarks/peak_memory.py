"""How much memory one piece of work needs, measured in a process of its own (Linux)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def peak_of(module: str, function: str, *arguments: object) -> float:
    """Megabytes that `module.function(*arguments)` prints, run in a new process.

    There the C library gives every buffer above 64 kB back when it is freed, so that the peak is what lives
    at one time and not what was kept for later.
    """
    given = ", ".join(map(repr, arguments))
    code = f"from {module} import {function}; {function}({given})"
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    return float(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
        ).stdout
    )


def growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """Megabytes by which the second piece of work raises the peak; the first lets libraries settle."""
    small()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    before = kilobytes("VmRSS")
    large()
    return (kilobytes("VmHWM") - before) / 1024


def kilobytes(kind: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(kind)).split()[1])

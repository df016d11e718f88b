"""The optional C++ kernels: used automatically if they have been built."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqlab.cells.native.fake import register_fakes
from seqlab.cells.native.trust import distrust_reason
from seqlab.core.cache import cache_folder

SOURCES = Path(__file__).parent / "kernels"
SWITCH = "SEQLAB_NATIVE"
"""Set this environment variable to 0 to disable the kernels."""

FLAGS = ["-O3", "-std=c++20", "-fno-math-errno", "-fno-trapping-math", "-fopenmp"]
VECTORS = {
    "AVX2": ["-mavx2", "-mfma"],
    "AVX512": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma"],
}

_is_off: ContextVar[bool] = ContextVar("native kernels are off", default=False)
"""Applies to the current thread only, since other threads may be in the middle of a scan."""


def library_path() -> Path:
    """The path of the kernels: one file for these sources, this torch, this Python and this kind of
    processor.
    """
    made_from = hashlib.sha256()
    for source in sorted(SOURCES.iterdir()):
        made_from.update(source.read_bytes())
    made_from.update(f"{torch.__version__} {sys.version_info[:2]} {sys.platform} {compiler_flags()}".encode())
    return cache_folder() / "native" / f"kernels-{made_from.hexdigest()[:16]}.so"


def compiler_flags() -> list[str]:
    """Compiler flags; the vector instructions are those that torch detected on this processor."""
    return FLAGS + VECTORS.get(torch.backends.cpu.get_cpu_capability(), [])


def native_kernels(like: Tensor) -> Any | None:
    """The kernels, if there are any for tensors like this one; otherwise None."""
    if (
        _is_off.get()
        or like.device.type != "cpu"
        or like.dtype not in (torch.float32, torch.float64)
        or torch.is_autocast_enabled("cpu")
    ):
        return None
    return _loaded()


@contextmanager
def disable_native() -> Iterator[None]:
    """For comparisons: inside this context, the current thread computes everything in Python."""
    token = _is_off.set(True)
    try:
        yield
    finally:
        _is_off.reset(token)


@cache
def _loaded() -> Any | None:
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        path = library_path()
        if not path.is_file():
            return None
        if reason := distrust_reason(path):
            warnings.warn(
                f"the C++ kernels are not loaded: {reason}. Remove the permission (chmod go-w), or set"
                " SEQLAB_CACHE to a folder of your own and run make native.",
                stacklevel=2,
            )
            return None
        torch.ops.load_library(path)
        register_fakes()
    except (
        OSError,
        RuntimeError,
    ):  # built elsewhere or damaged: the scan in Python gives the same numbers
        return None
    return torch.ops.seqlab


def reload_library() -> None:
    """Reload the kernels at the next use, after they have been built."""
    _loaded.cache_clear()

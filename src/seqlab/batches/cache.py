"""A folder of things that are slow to make again, keyed by what they were made from."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seqlab.batches.store import Store

LARGEST_CACHE = 20_000_000_000


def cache_folder() -> Path:
    """Where encoded corpora are kept: $SEQLAB_CACHE, or seqlab's folder in the user's cache."""
    if chosen := os.environ.get("SEQLAB_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqlab"


def cached_store(made_from: dict[str, Any], write: Callable[[Path], None]) -> Store:
    """The store for this description of its content; written first if it is not there or not whole.

    A store is written beside its place and renamed once, so two processes may ask for the same one.
    """
    key = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:32]
    folder = cache_folder() / key
    if not Store.is_whole(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix="tmp-", dir=folder.parent))
        try:
            write(temporary)
            _drop_least_recent(keep=temporary)
            _move_into_place(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    os.utime(folder)  # the time of last use decides what is dropped first
    return Store(folder)


def _move_into_place(temporary: Path, folder: Path) -> None:
    if folder.exists() and not Store.is_whole(folder):
        shutil.rmtree(folder)
    try:
        temporary.rename(folder)
    except OSError:  # another process was faster: its store has the same content
        if not Store.is_whole(folder):
            raise


def _drop_least_recent(*, keep: Path) -> None:
    """Remove the stores unused for longest until the cache is within its limit. Open maps stay readable."""
    entries = sorted((path for path in keep.parent.iterdir() if path.is_dir() and path != keep), key=lambda path: path.stat().st_mtime)
    sizes = {path: sum(file.stat().st_size for file in path.iterdir() if file.is_file()) for path in [*entries, keep]}
    total = sum(sizes.values())
    for path in entries:
        if total <= LARGEST_CACHE:
            return
        shutil.rmtree(path, ignore_errors=True)
        total -= sizes[path]

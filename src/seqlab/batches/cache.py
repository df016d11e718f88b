"""A cache of stores, keyed by a description of what they were made from."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from seqlab.batches.store import Store, damaged_files
from seqlab.core.cache import CHOOSE_ANOTHER, cache_folder
from seqlab.core.errors import DataError
from seqlab.core.locks import explain_unwritable, lock_file

LARGEST_CACHE = 20_000_000_000
KEY = "key"
"""The file with the key of a store, since all digests still match if one store replaces another."""
_OURS = re.compile(r"([0-9a-f]{32})(\.tmp)?")
"""Names of cache folders; anything else in the cache is never touched."""


class Fingerprinted(Protocol):
    """Data whose fingerprint changes when the content does."""

    @property
    def name(self) -> str: ...
    def fingerprint(self) -> str: ...


def cached_store(
    made_from: dict[str, Any], write: Callable[[Path], None], *, source: Fingerprinted | None = None
) -> Store:
    """The store for this description of its content; built if it is missing or damaged: every byte is
    verified.

    The fingerprint of the source is part of the description. If it differs after writing, the data
    changed in the meantime, and the store is discarded.

    If several processes request it at once, one builds it and the others wait. It is written to a temporary
    folder and then renamed, so an existing store is always complete.
    """
    fingerprint = source.fingerprint() if source is not None else ""
    description = made_from if source is None else {**made_from, "source": fingerprint}
    key = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]
    folder = cache_folder() / key

    def write_unchanged(place: Path) -> None:
        write(place)
        (place / KEY).write_text(key, encoding="ascii")
        if source is not None and source.fingerprint() != fingerprint:
            raise DataError(
                "the data changed while it was being read.",
                where=source.name,
                cure="Run the command again when no other program is writing to the file.",
            )

    with _locked(folder, wait=True):
        was_there, damaged = folder.exists(), damaged_files(folder) or _other_key(folder, key)
        if damaged:
            _make(folder, write_unchanged)
        os.utime(folder)  # the time of last use decides what is evicted first
        store = Store(folder, verify=False)  # every byte has just been read, or written
        store.rebuilt = damaged if was_there else []
        return store


def _other_key(folder: Path, key: str) -> list[str]:
    """The file with the key, if it says that the store was made from something else."""
    path = folder / KEY
    try:
        is_own = path.is_file() and path.read_bytes() == key.encode()
    except OSError:
        is_own = False
    return [] if is_own else [KEY]


def _locked(folder: Path, *, wait: bool) -> AbstractContextManager[bool]:
    """Lock a store; yields False if another process holds the lock."""
    with explain_unwritable(folder.parent, cure=CHOOSE_ANOTHER):
        folder.parent.mkdir(parents=True, exist_ok=True)
    return lock_file(folder.with_suffix(".lock"), wait=wait, cure=CHOOSE_ANOTHER)


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    temporary = folder.with_suffix(".tmp")
    try:
        _remove(temporary)
        write(temporary)
        _evict(folder.parent)
        _remove(folder)  # if it is there, it is damaged
        temporary.rename(folder)
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    """Remove a store, or whatever is in its place."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def _evict(cache: Path) -> None:
    """Remove leftovers of killed processes, then evict the least recently used stores until the cache is within
    its limit.

    Stores that a process builds or opens are locked and kept. Open memory maps stay readable when their files are deleted.
    """
    entries = {path: _size_and_age(path) for path in cache.iterdir() if _OURS.fullmatch(path.name)}
    total = sum(size for size, _ in entries.values())
    for path, (size, _) in sorted(
        entries.items(), key=lambda entry: (entry[0].suffix != ".tmp", entry[1][1])
    ):
        if total <= LARGEST_CACHE and path.suffix != ".tmp":
            return
        with _locked(path.with_suffix(""), wait=False) as is_mine:
            if is_mine:
                shutil.rmtree(path, ignore_errors=True)
                total -= size


def _size_and_age(folder: Path) -> tuple[int, float]:
    try:
        return sum(file.stat().st_size for file in folder.iterdir()), folder.stat().st_mtime
    except OSError:  # another process is just removing it
        return 0, 0.0

"""The files of a data folder: links are followed, and entries that cannot be read are errors rather than skipped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.sources.files.archives import is_junk

MOST_ENTRIES = 1_000_000


def files_in(folder: Path) -> list[Path]:
    """The files directly in a folder, in the order of their names."""
    return sorted(entry for entry in _entries(folder) if entry.is_file())


def files_below(folder: Path) -> list[Path]:
    """The files in a folder and in all folders below it, in the order of their paths."""
    entries = list(islice(_walk(folder), MOST_ENTRIES + 1))
    if len(entries) > MOST_ENTRIES:
        raise DataError(
            f"contains more than {MOST_ENTRIES:,} files and folders.",
            where=str(folder),
            cure="Put the texts into one table, or pass a subfolder.",
        )
    return sorted(entry for entry in entries if entry.is_file())


def _walk(folder: Path) -> Iterator[Path]:
    """All files and folders below a folder; iterative, since recursion ends at a thousand levels."""
    waiting = [(folder, frozenset({_identity(folder)}))]
    while waiting:
        parent, above = waiting.pop()
        for entry in _entries(parent):
            yield entry
            if entry.is_file():
                continue
            identity = _identity(entry)
            if identity in above:
                raise DataError(
                    "is a link to one of its parent folders.", where=str(entry), cure="Remove the link."
                )
            waiting.append((entry, above | {identity}))


def _identity(folder: Path) -> tuple[int, int]:
    """A folder's identity, the same through every link. Resolving its path would take one call per level."""
    status = folder.stat()
    return status.st_dev, status.st_ino


def _entries(folder: Path) -> Iterator[Path]:
    """Files and folders. Hidden ones are not data; anything else is an error, since it would be missing from the data."""
    for entry in folder.iterdir():
        if is_junk(entry.name):
            continue
        if not entry.is_file() and not entry.is_dir():
            what = "a broken link" if not entry.exists() else "neither a file nor a folder"
            raise DataError(f"is {what}.", where=str(entry), cure="Remove it, or replace it with the file.")
        yield entry

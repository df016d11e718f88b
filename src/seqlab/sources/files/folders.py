"""The files of a data folder: links are followed, and what cannot be read is refused rather than left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.sources.files.archives import is_junk

MOST_FILES = 1_000_000


def files_in(folder: Path) -> list[Path]:
    """The files directly in a folder, in the order of their names."""
    return sorted(entry for entry in _entries(folder) if entry.is_file())


def files_below(folder: Path) -> list[Path]:
    """The files in a folder and in all folders below it, in the order of their paths."""
    files = list[Path]()
    for path in _walk(folder, above=frozenset({os.path.realpath(folder)})):
        files.append(path)
        if len(files) > MOST_FILES:
            raise DataError(
                f"holds more than {MOST_FILES:,} files.",
                where=str(folder),
                cure="Put the texts into one table, or name a folder further down.",
            )
    return sorted(files)


def _walk(folder: Path, above: frozenset[str]) -> Iterator[Path]:
    for entry in _entries(folder):
        if entry.is_file():
            yield entry
            continue
        place = os.path.realpath(entry)
        if place in above:
            raise DataError("is a link to a folder above it.", where=str(entry), cure="Remove the link.")
        yield from _walk(entry, above | {place})


def _entries(folder: Path) -> Iterator[Path]:
    """Files and folders; hidden ones are not data, and anything else would be missing in the data."""
    for entry in folder.iterdir():
        if is_junk(entry.name):
            continue
        if not entry.is_file() and not entry.is_dir():
            what = "a link to nothing" if not entry.exists() else "neither a file nor a folder"
            raise DataError(f"is {what}.", where=str(entry), cure="Remove it, or put the file in its place.")
        yield entry

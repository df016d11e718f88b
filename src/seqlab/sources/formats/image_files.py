"""Finds the image files that a table refers to: next to the table, in folders, or in zip archives."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from seqlab.core.errors import DataError, nearest
from seqlab.core.files import megabytes
from seqlab.sources.files.archives import zip_files
from seqlab.sources.files.compression import explain_damage, unreadable
from seqlab.sources.files.zip_directory import open_zip

LARGEST_FILE = 100_000_000
"""Maximum size of an image file in bytes; a larger file is something else."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


class ImageFiles:
    """Finds and reads image files. Archives are opened once and stay open.

    places: folders and archives, relative to the current folder or to the table; without any, names are relative to
    the table.
    """

    def __init__(self, places: Sequence[str] = ()) -> None:
        self._places = list(places)
        self._archives: dict[Path, _Archive] = {}

    def read(self, name: str, *, table_folder: Path, where: str) -> bytes:
        """The bytes of an image file."""
        place = self._find(name, table_folder, where)
        if isinstance(place, _Member):
            return place.archive.read(place.info, where=where)
        try:
            if (size := place.stat().st_size) > LARGEST_FILE:
                raise _too_large(name, size, where)
            return place.read_bytes()
        except OSError as error:
            raise unreadable(place, error) from error

    def identity(self, name: str, *, table_folder: Path, where: str) -> str:
        """A key that changes with the image, without reading it: the checksum in an archive, else size and
        time.
        """
        place = self._find(name, table_folder, where)
        if isinstance(place, _Member):
            return f"{place.info.CRC}:{place.info.file_size}"
        facts = place.stat()
        return f"{facts.st_size}:{facts.st_mtime_ns}"

    def _find(self, name: str, table_folder: Path, where: str) -> Path | _Member:
        for place in self._places or [str(table_folder)]:
            root = _existing(place, table_folder)
            if root.is_dir():
                if (root / name).is_file():
                    return root / name
            elif (member := self._archive(root).find(name)) is not None:
                return member
        raise self._missing(name, table_folder, where)

    def _archive(self, path: Path) -> _Archive:
        if path not in self._archives:
            self._archives[path] = _Archive(path)
        return self._archives[path]

    def _missing(self, name: str, table_folder: Path, where: str) -> DataError:
        searched = ", ".join(self._places) or str(table_folder)
        folder = (table_folder / name).parent
        names = (
            [str(Path(name).parent / entry.name) for entry in folder.iterdir()]
            if not self._places and folder.is_dir()
            else []
        )
        cure = (
            nearest(name, names)
            if names
            else "If the images are elsewhere, set data.images=FOLDER or data.images=ARCHIVE.zip"
        )
        return DataError(f"there is no image file '{name[:200]}' in {searched}.", where=where, cure=cure)


class _Member:
    """A file in an archive."""

    def __init__(self, archive: _Archive, info: zipfile.ZipInfo) -> None:
        self.archive, self.info = archive, info


class _Archive:
    """A zip archive whose members are found by their full name, or by file name if that is unique."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with explain_damage(path, ".zip"):
            self._zip = open_zip(path)
            files = zip_files(self._zip, where=str(path))
        self._by_name = {info.filename: info for info in files}
        self._by_last: dict[str, zipfile.ZipInfo | None] = {}
        for info in files:
            last = info.filename.rpartition("/")[2]
            self._by_last[last] = None if last in self._by_last else info

    def find(self, name: str) -> _Member | None:
        info = self._by_name.get(name) or self._by_last.get(name)
        return None if info is None else _Member(self, info)

    def read(self, info: zipfile.ZipInfo, *, where: str) -> bytes:
        if info.file_size > LARGEST_FILE:
            raise _too_large(info.filename, info.file_size, where)
        with explain_damage(self._path, ".zip"):
            return self._zip.read(info)


def _existing(place: str, table_folder: Path) -> Path:
    """A folder or an archive, relative to the current folder or to the table."""
    for path in (Path(place), table_folder / place):
        if path.exists():
            return path
    raise DataError(
        "no such folder or archive of images.",
        where=f"data.images={place[:200]}",
        cure=f"Looked in the current folder and in {table_folder}.",
    )


def _too_large(name: str, size: int, where: str) -> DataError:
    return DataError(
        f"the file '{name[:200]}' is {megabytes(size)}, too large for an image.",
        where=where,
        cure=f"The limit is {megabytes(LARGEST_FILE)}.",
    )


def looks_like_file(value: object) -> bool:
    """Whether a cell names an image file.

    >>> looks_like_file("dogs/1.JPG"), looks_like_file("a dog runs"), looks_like_file([[0]])
    (True, False, False)
    """
    return isinstance(value, str) and value.strip().lower().endswith(SUFFIXES)

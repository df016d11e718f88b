"""Folders, zip and tar archives as collections of files, read one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from seqlab.core.errors import DataError, shortened
from seqlab.core.files import megabytes
from seqlab.sources.files.archives import check_size, check_tar_member, zip_files
from seqlab.sources.files.compression import explain_damage, open_binary
from seqlab.sources.files.decompression import decompressed
from seqlab.sources.files.folders import files_below
from seqlab.sources.files.lines import LONGEST_LINE
from seqlab.sources.files.tar_stream import open_tar, read_member
from seqlab.sources.files.zip_directory import open_zip


class Tree(ABC):
    """Relative names of files, and their contents."""

    names: list[str]

    @abstractmethod
    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The given files, in the order of the tree."""


class FolderTree(Tree):
    def __init__(self, root: Path) -> None:
        self._root = root
        self.names = [path.relative_to(root).as_posix() for path in files_below(root)]

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            with open_binary(self._root / name) as stream:
                content = stream.read(LONGEST_LINE + 1)
            yield name, _bounded(content, where=str(self._root / name))


class ZipTree(Tree):
    def __init__(self, path: Path) -> None:
        self._path = path
        with explain_damage(path, ".zip"), open_zip(path) as archive:
            self.names = sorted(member.filename for member in zip_files(archive, where=str(path)))
        _reject_repeated(self.names, where=str(path))

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        with explain_damage(self._path, ".zip"), open_zip(self._path) as archive:
            for name in names:
                with archive.open(name) as stream:
                    content = stream.read(LONGEST_LINE + 1)
                yield name, _unpacked(name, content, where=f"{self._path}/{name}")


class TarTree(Tree):
    """Compressed tar archives can only be read from front to back, so files come in the order of the
    archive.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with open_tar(path) as archive:
            self.names = [member.name for member in archive if check_tar_member(member, where=str(path))]
        _reject_repeated(self.names, where=str(path))

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        requested = set(names)
        with open_tar(self._path) as archive:
            for member in archive:
                if member.name in requested and member.isreg():
                    content = read_member(archive, member, most=LONGEST_LINE + 1)
                    yield member.name, _unpacked(member.name, content, where=f"{self._path}/{member.name}")


def open_tree(path: Path) -> Tree:
    if path.is_dir():
        return FolderTree(path)
    return ZipTree(path) if path.suffix.lower() == ".zip" else TarTree(path)


def _reject_repeated(names: Sequence[str], *, where: str) -> None:
    """Of two files with the same name, the later replaces the earlier when an archive is unpacked."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        times = "twice" if count == 2 else f"{count:,} times"
        raise DataError(
            f"contains a file {times}: {shortened(name)!r}.",
            where=where,
            cure="Unpack the archive, which keeps the last version of each file, and pass the folder.",
        )


def _unpacked(name: str, content: bytes, *, where: str) -> bytes:
    """A file from an archive, which may itself be compressed."""
    kind = PurePosixPath(name).suffix
    if kind in (".gz", ".xz", ".bz2"):
        if not content:
            raise EOFError(f"member '{name}' is empty")
        packed = len(content)
        with decompressed(BytesIO(content), kind) as stream:
            content = stream.read(LONGEST_LINE + 1)
        check_size(name, size=len(content), packed=packed, where=where)
    return _bounded(content, where=where)


def _bounded(content: bytes, *, where: str) -> bytes:
    if len(content) > LONGEST_LINE:
        raise DataError(
            f"is larger than {megabytes(LONGEST_LINE)}, too large for one example.",
            where=where,
            cure="Split it into smaller files.",
        )
    return content

"""Many files under one name: a folder, a zip or a tar archive, read one file after the other."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.core.files import megabytes
from seqlab.sources.files.archives import check_tar_member, is_junk, zip_files
from seqlab.sources.files.compression import BROKEN, broken, open_binary, unreadable
from seqlab.sources.files.lines import LONGEST_LINE


class Tree(ABC):
    """Relative names of files, and their contents."""

    names: list[str]

    @abstractmethod
    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The wanted files, in the order in which the tree keeps them."""


class FolderTree(Tree):
    def __init__(self, root: Path) -> None:
        self._root = root
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        self.names = [name for path in files if not is_junk(name := path.relative_to(root).as_posix())]

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            with open_binary(self._root / name) as stream:
                content = stream.read(LONGEST_LINE + 1)
            yield name, _bounded(content, where=str(self._root / name))


class ZipTree(Tree):
    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path), zipfile.ZipFile(path) as archive:
            self.names = sorted(member.filename for member in zip_files(archive, where=str(path)))

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        with _explained(self._path), zipfile.ZipFile(self._path) as archive:
            for name in names:
                with archive.open(name) as stream:
                    content = stream.read(LONGEST_LINE + 1)
                yield name, _unpacked(name, content, where=f"{self._path}/{name}")


class TarTree(Tree):
    """Compressed tar archives can only be read from front to back, so files come in the order of the archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path), tarfile.open(path, "r|*") as archive:
            self.names = [member.name for member in archive if check_tar_member(member, where=str(path))]

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        wanted = set(names)
        with _explained(self._path), tarfile.open(self._path, "r|*") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.name in wanted else None
                if stream is not None:
                    yield member.name, _unpacked(member.name, stream.read(LONGEST_LINE + 1), where=f"{self._path}/{member.name}")


def open_tree(path: Path) -> Tree:
    if path.is_dir():
        return FolderTree(path)
    return ZipTree(path) if path.suffix.lower() == ".zip" else TarTree(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Whatever is wrong inside an archive, as a DataError."""
    try:
        yield
    except (*BROKEN, tarfile.TarError) as error:
        raise broken(path, path.suffix, error) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _unpacked(name: str, content: bytes, *, where: str) -> bytes:
    """A file out of an archive, which may be compressed once more by itself."""
    packed = BytesIO(content)
    if name.endswith(".gz"):
        with gzip.GzipFile(fileobj=packed) as file:
            content = file.read(LONGEST_LINE + 1)
    elif name.endswith(".xz"):
        with lzma.LZMAFile(packed) as unpacked:
            content = unpacked.read(LONGEST_LINE + 1)
    elif name.endswith(".bz2"):
        with bz2.BZ2File(packed) as expanded:
            content = expanded.read(LONGEST_LINE + 1)
    return _bounded(content, where=where)


def _bounded(content: bytes, *, where: str) -> bytes:
    if len(content) > LONGEST_LINE:
        raise DataError(f"is longer than {megabytes(LONGEST_LINE)}, too much for one example.", where=where, cure="Cut it into smaller files.")
    return content

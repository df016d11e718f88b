"""Any file as a stream of bytes: plain, gz, xz, bz2, or the one file inside a zip."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import shlex
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from seqlab.core.errors import DataError, nearest
from seqlab.sources.files.archives import check_ratio, zip_files
from seqlab.sources.files.decompression import CHUNK, DamagedStream, decompressed
from seqlab.sources.files.once_per_file import once_per_file
from seqlab.sources.files.zip_directory import open_zip

BLOCK = 1 << 20
COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip")
MAGIC = {
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ\x00": ".xz",
    b"BZh": ".bz2",
    b"PK\x03\x04": ".zip",
    b"PK\x05\x06": ".zip",
}
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, DamagedStream, zipfile.BadZipFile, NotImplementedError)


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file; any damage to an archive raises DataError, even in the middle
    of reading.
    """
    kind = compression(path)
    with explain_damage(path, kind), _unpack(path, kind) as stream:
        yield stream


@contextmanager
def explain_damage(path: Path, kind: str) -> Iterator[None]:
    """Turn any error while reading a file of a kind (such as `.zip`, or empty for a plain file) into a
    DataError.
    """
    try:
        yield
    except BROKEN as error:
        raise broken(path, kind, error) from error
    except OSError as error:
        if kind and error.errno in (None, errno.EINVAL):  # bz2 inside a zip, or a negative offset
            raise broken(path, kind, error) from error
        raise unreadable(path, error) from error


def read_blocks(path: Path) -> Iterator[bytes]:
    """The unpacked bytes of a file, a block at a time."""
    with open_binary(path) as stream:
        while block := stream.read(BLOCK):
            yield block


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of the unpacked file."""
    with open_binary(path) as stream:
        return stream.read(count)


def compression(path: Path) -> str:
    """How a file is compressed, from its first bytes: a name may be wrong or missing."""
    check_exists(path)
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise unreadable(path, error) from error
    kind_found = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    promised = path.suffix.lower()
    if promised in COMPRESSIONS and promised != kind_found:
        what = f"it starts with {start[:4]!r}" if start else "it is empty, 0 bytes long"
        raise DataError(
            f"is not a {promised} file: {what}.",
            where=str(path),
            cure="Correct the file extension, or download the file again.",
        )
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        raise DataError(
            "is compressed with zstd, which is not supported.",
            where=str(path),
            cure=f"Run unzstd '{path}' and pass the unpacked file.",
        )
    return kind_found


def plain_name(path: Path) -> str:
    """The name of what is inside: `train.csv` for train.csv.gz, and for a zip the name of its one member."""
    if path.is_file() and compression(path) == ".zip":
        with explain_damage(path, ".zip"), open_zip(path) as archive:
            return PurePosixPath(_only_member(archive, path).filename).name
    return path.stem if path.suffix.lower() in COMPRESSIONS else path.name


def check_exists(path: Path) -> None:
    """Raise an error for a missing file, or for one that cannot be read twice."""
    check_name_is_text(str(path.absolute()))
    if path.is_file():
        return
    if path.is_dir():
        raise DataError("is a folder, expected a file.", where=str(path))
    if path.exists():
        raise DataError(
            "is not a regular file, and seqlab reads the data more than once.",
            where=str(path),
            cure="Save it as a file first.",
        )
    folder = path.parent
    if not folder.is_dir():
        raise DataError(
            "neither the file nor its folder exists.", where=str(path), cure=f"Looked in {folder.absolute()}."
        )
    names = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    raise DataError("no such file.", where=str(path), cure=nearest(path.name, names))


def check_name_is_text(name: str) -> None:
    """Recipes and reports can only store text, and a folder's name may be a label."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            "the name of this file or of a parent folder is not valid UTF-8.",
            where=ascii(name)[1:-1],
            cure="Rename it (convmv -f latin1 -t utf-8 --notest NAME).",
        ) from error


@once_per_file  # the parts of a file, its survey and its cache all ask
def content_hash(path: Path) -> str:
    """A hash of the file's bytes on disk."""
    check_exists(path)
    digest = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise unreadable(path, error) from error
    return digest.hexdigest()


def unreadable(path: Path, error: OSError) -> DataError:
    cure = "Check the permissions." if isinstance(error, PermissionError) else ""
    return DataError(
        f"cannot be read ({(error.strerror or str(error)).lower()}).", where=str(path), cure=cure
    )


def broken(path: Path, kind: str, error: Exception) -> DataError:
    """The error for an archive that cannot be fully unpacked."""
    what = f"is truncated or corrupted ({kind[1:]}: {error})."
    return DataError(
        what,
        where=str(path),
        cure=(
            "Download or compress it again; to test an archive, run `unzip -t`, `gzip -t`, `xz -t`,"
            " `bzip2 -t` or `tar -tf`."
        ),
    )


@contextmanager
def _unpack(path: Path, kind: str) -> Iterator[IO[bytes]]:
    if kind == ".zip":
        with open_zip(path) as archive, archive.open(_only_member(archive, path)) as member:
            yield member
    elif kind:
        with path.open("rb") as file, decompressed(file, kind) as stream:
            bounded = BoundedStream(stream, packed=path.stat().st_size, where=str(path))
            yield io.BufferedReader(bounded, CHUNK)
    else:
        with path.open("rb") as file:
            yield file


class BoundedStream(io.RawIOBase):
    """A decompressed stream that raises an error once it is far longer than its file."""

    def __init__(self, stream: IO[bytes], *, packed: int, where: str) -> None:
        self._stream = stream
        self._packed = packed
        self._where = where
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # RawIOBase declares any buffer, BufferedReader passes this one
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        self._size += len(block)
        check_ratio(self._size, packed=self._packed, where=self._where)
        return len(block)


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    names = archive.namelist()
    if "[Content_Types].xml" in names:
        raise DataError(
            "is an office document, not a plain-text table.",
            where=str(path),
            cure=(
                "Save the sheet as CSV and pass that file, for example:"
                f" libreoffice --headless --convert-to csv {shlex.quote(path.name)}"
            ),
        )
    files = zip_files(archive, where=str(path))
    if len(files) != 1:
        listed_names = ", ".join(member.filename for member in files[:6]) + (" …" if len(files) > 6 else "")
        what = (
            f"contains {len(files)} files ({listed_names}), expected one." if files else "contains no files."
        )
        raise DataError(what, where=str(path), cure="Unpack it and pass the file you mean.")
    return files[0]

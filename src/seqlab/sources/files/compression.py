"""Any file as a stream of bytes: plain, gz, xz, bz2, or the one file inside a zip."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from seqlab.core.errors import DataError, nearest
from seqlab.sources.files.archives import zip_files

BLOCK = 1 << 20
COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip")
MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"BZh": ".bz2", b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip"}
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file; whatever is wrong with an archive becomes a DataError, also in the middle of reading."""
    kind = compression(path)
    try:
        with _unpack(path, kind) as stream:
            yield stream
    except BROKEN as error:
        raise broken(path, kind, error) from error
    except OSError as error:
        # bz2 reports damage as a bare OSError without a number.
        if kind == ".bz2" and error.errno is None:
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
    """How a file is packed, read from its first bytes: a name may lie, or be missing."""
    check_exists(path)
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise unreadable(path, error) from error
    found = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    promised = path.suffix.lower()
    if promised in COMPRESSIONS and promised != found and start:
        raise DataError(
            f"is not a {promised} file: it begins with {start[:4]!r}.", where=str(path), cure="Rename it to what it is, or fetch it again."
        )
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        raise DataError("is packed with zstd, which is not read.", where=str(path), cure=f"unzstd '{path}' and name the unpacked file.")
    return found


def plain_name(path: Path) -> str:
    """The name of what is inside: `train.csv` for train.csv.gz, and for a zip the name of its one member."""
    if path.is_file() and compression(path) == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                return PurePosixPath(_only_member(archive, path).filename).name
        except BROKEN as error:
            raise broken(path, ".zip", error) from error
    return path.stem if path.suffix.lower() in COMPRESSIONS else path.name


def check_exists(path: Path) -> None:
    """A missing file, or something that cannot be read twice, in words."""
    if path.is_file():
        return
    if path.is_dir():
        raise DataError("is a folder, a file is needed here.", where=str(path))
    if path.exists():
        raise DataError("is not a regular file, and every pass reads from the start.", where=str(path), cure="Save it as a file first.")
    folder = path.parent
    if not folder.is_dir():
        raise DataError("no such file, nor its folder.", where=str(path), cure=f"Looked in {folder.absolute()}.")
    names = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    raise DataError("no such file.", where=str(path), cure=nearest(path.name, names))


def content_hash(path: Path) -> str:
    """A hash of the file as it lies on the disk."""
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
    cure = "Check its permissions." if isinstance(error, PermissionError) else ""
    return DataError(f"cannot be read ({(error.strerror or str(error)).lower()}).", where=str(path), cure=cure)


def broken(path: Path, kind: str, error: Exception) -> DataError:
    """An archive that cannot be unpacked to its end."""
    what = f"ends too early or is damaged inside ({kind[1:]}: {error})."
    return DataError(what, where=str(path), cure="Fetch or pack it again; `unzip -t`, `gzip -t`, `xz -t` or `bzip2 -t` tests an archive.")


@contextmanager
def _unpack(path: Path, kind: str) -> Iterator[IO[bytes]]:
    if kind == ".gz":
        with gzip.open(path, "rb") as unzipped:
            yield unzipped  # type: ignore[misc]  # zipfile has its own kind of file
    elif kind == ".xz":
        with lzma.open(path, "rb") as unpacked:
            yield unpacked
    elif kind == ".bz2":
        with bz2.open(path, "rb") as expanded:
            yield expanded
    elif kind == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive, path)) as member:
            yield member
    else:
        with path.open("rb") as file:
            yield file


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    names = archive.namelist()
    if "[Content_Types].xml" in names:
        raise DataError("is an office document, not a text table.", where=str(path), cure="Save the sheet as CSV and name that file.")
    files = zip_files(archive, where=str(path))
    if len(files) != 1:
        shown = ", ".join(member.filename for member in files[:6]) + (" …" if len(files) > 6 else "")
        what = f"holds {len(files)} files ({shown}), one is needed." if files else "holds no file."
        raise DataError(what, where=str(path), cure="Unpack it and name the file you mean.")
    return files[0]

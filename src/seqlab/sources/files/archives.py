"""Safety checks on zip and tar archives, made before anything is unpacked."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from pathlib import PurePosixPath

from seqlab.core.errors import DataError, shortened
from seqlab.core.files import megabytes

LARGEST_MEMBER = 2_000_000_000
LARGEST_RATIO = 100
SMALL_MEMBER = 10_000_000  # below this a high ratio is a repetitive file, not an attack
SMALL_ARCHIVE = 100_000_000
MOST_MEMBERS = 1_000_000
JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini"}


def is_junk(name: str) -> bool:
    """Hidden files, and files that operating systems add to archives.

    >>> is_junk("__MACOSX/._train.csv"), is_junk("data/.DS_Store"), is_junk("data/train.csv")
    (True, True, False)
    """
    return any(
        part in JUNK or (part.startswith(".") and part not in (".", ".."))
        for part in name.replace("\\", "/").split("/")
    )


def zip_files(archive: zipfile.ZipFile, *, where: str) -> list[zipfile.ZipInfo]:
    """The members of a zip that are files worth reading, each checked."""
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise _unsafe(
            f"it contains {len(members):,} members, more than the limit of {MOST_MEMBERS:,}", where=where
        )
    packed = sum(member.compress_size for member in members)
    check_ratio(
        sum(member.file_size for member in members),
        packed=min(
            packed, archive.start_dir
        ),  # members may share their bytes, which lie before the directory
        where=where,
    )
    files = [member for member in members if not member.is_dir() and not is_junk(member.filename)]
    for member in files:
        check_name(member.filename, where=where)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise _unsafe_member(member.filename, "is a link", where=where)
        if member.flag_bits & 1:
            raise DataError(
                f"member '{member.filename}' is password-protected.",
                where=where,
                cure="Unpack the archive and pass the file inside.",
            )
        check_size(member.filename, size=member.file_size, packed=member.compress_size, where=where)
    return files


def check_tar_member(member: tarfile.TarInfo, *, where: str) -> bool:
    """True for a file worth reading, False for folders and junk; links and devices are refused."""
    if member.isdir() or is_junk(member.name):
        return False
    check_name(member.name, where=where)
    if not member.isreg():
        raise _unsafe_member(member.name, "is a link or a device file", where=where)
    check_size(member.name, size=member.size, packed=member.size, where=where)
    return True


def check_name(name: str, *, where: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        raise _unsafe_member(name, "points outside the archive", where=where)


def check_size(name: str, *, size: int, packed: int, where: str) -> None:
    ratio = size / max(packed, 1)
    if size > LARGEST_MEMBER or (size > SMALL_MEMBER and ratio > LARGEST_RATIO):
        raise _unsafe_member(name, f"expands from {megabytes(packed)} to {megabytes(size)}", where=where)


def check_ratio(size: int, *, packed: int, where: str) -> None:
    """Reject archives that expand far more than data does in total: many small members, or one long stream."""
    if size > SMALL_ARCHIVE and size > LARGEST_RATIO * packed:
        what = f"it expands from {megabytes(packed)} to {megabytes(size)} or more"
        raise _unsafe(f"{what}, more than {LARGEST_RATIO} times its size", where=where)


def _unsafe_member(name: str, why: str, *, where: str) -> DataError:
    return _unsafe(f"member '{shortened(name)}' {why}", where=where)


def _unsafe(what: str, *, where: str) -> DataError:
    return DataError(
        f"{what}, so the archive was not read.",
        where=where,
        cure="If you trust it, unpack it yourself and pass the file inside.",
    )

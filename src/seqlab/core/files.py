"""Atomic file writes, and clear errors for full disks."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident

from seqlab.core.errors import EnvironmentProblem

CHUNK = 1 << 20


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader sees the old content or the new, never a part, whatever happens in
    between.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.tmp")  # threads may write, too
    with explain_full_disk(path, needed=len(data)):
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder durable."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows cannot open folders; its file system journals renames
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explain_full_disk(path: Path, *, needed: int) -> Iterator[None]:
    """Turn the system's 'no space left', 'quota exceeded' and 'file too large' into a message with the two
    numbers that matter, and 'is a directory' into one that names the file.
    """
    try:
        yield
    except IsADirectoryError as error:
        raise EnvironmentProblem(
            "a folder has the name of this file.", where=str(path), cure="Remove or rename the folder."
        ) from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise no_space(path, needed=needed, code=error.errno) from error


def no_space(path: Path, *, needed: int, code: int = errno.ENOSPC) -> EnvironmentProblem:
    """code: the system's error number, which distinguishes a full disk, a quota and a file size limit."""
    if code == errno.EFBIG:
        limit = largest_file()
        allowed = (
            "the file system does not support larger files"
            if limit is None
            else f"the file size limit is {megabytes(limit)}"
        )
        what, cure = (
            f"the file cannot grow to {megabytes(needed)}: {allowed}.",
            "Raise the limit (ulimit -f unlimited)",
        )
    elif code == errno.EDQUOT:
        what, cure = f"the disk quota is exceeded: {megabytes(needed)} needed.", "Free some disk space"
    else:
        what, cure = (
            f"no space left: needs {megabytes(needed)}, has {megabytes(free_space(path))}.",
            "Free some disk space",
        )
    cure += ", or choose another folder with --out; everything saved before is intact."
    return EnvironmentProblem(what, where=str(path), cure=cure)


def largest_file() -> int | None:
    """The number of bytes that the system lets a process write into one file; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit


def free_space(path: Path) -> int:
    """Bytes free on the disk that holds a path, which need not exist yet."""
    folder = path
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def megabytes(size: int) -> str:
    """
    >>> megabytes(1_500_000), megabytes(3_200_000_000), megabytes(1200)
    ('1.5 MB', '3.2 GB', '1 kB')
    """
    if size >= 1_000_000_000:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{size // 1000} kB"


def sha256(path: Path) -> str:
    """The checksum of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()

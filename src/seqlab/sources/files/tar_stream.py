"""Tar archives, read from front to back and verified up to their last byte.

Python's `tarfile` treats a truncated file, an erased block or a damaged header as the end of the archive, and
stops before the checksum of the compressed stream. An archive ends with two blocks of zeros (POSIX.1-2017,
pax, "ustar Interchange Format"), and only zeros may follow them.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from seqlab.sources.files.compression import BLOCK, broken, open_binary

END = 2 * tarfile.BLOCKSIZE
"""Bytes of zeros that end an archive."""


@contextmanager
def open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    """An archive to iterate over to its end.

    Leaving the context checks that it was the end; damage anywhere is a DataError.
    """
    with open_binary(path) as file:
        stream = _TrackedStream(file)
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]  # it only reads
                yield archive
                _check_end(archive, stream)
        except tarfile.TarError as error:
            raise broken(path, ".tar", error) from error


def read_member(archive: tarfile.TarFile, member: tarfile.TarInfo, *, most: int) -> bytes:
    """The content of a regular file, up to a maximum size."""
    stream = archive.extractfile(member)
    assert stream is not None, f"{member.name} is not a regular file"
    size = min(member.size, most)
    content = stream.read(size)
    if len(content) < size:
        raise tarfile.ReadError(
            f"member '{member.name}' ends after {len(content):,} of {member.size:,} bytes"
        )
    return content


class _TrackedStream:
    """A stream that tracks how far it was read, and the position of its last nonzero byte."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.position = 0
        self.end_of_content = 0

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        if content := block.rstrip(b"\0"):
            self.end_of_content = self.position + len(content)
        self.position += len(block)
        return block


def _check_end(archive: tarfile.TarFile, stream: _TrackedStream) -> None:
    """Check that enough zeros follow the last member, up to the end of the stream and its checksum."""
    end = archive.offset
    while stream.read(BLOCK):
        pass
    if stream.end_of_content > end:
        raise tarfile.ReadError(f"byte {end:,} is neither the start of a member nor the end of the archive")
    if stream.position < end + END:
        raise tarfile.ReadError(f"the {END} zero bytes that end an archive are missing after byte {end:,}")

"""The central directory of a zip archive, checked against its own count of members and the header before
each member.

The directory has no checksum, and Python's `zipfile` checks a name only when its member is read. One flipped
bit can hide a member (a length that swallows the next record) or rename it to something that is never read
(`pos/note` to `pos/.ote`). Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 and 4.3.12 to 4.3.16.
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import IO

END, END_64, LOCATOR_64, MEMBER = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x03\x04"
SIZE_OF_END, SIZE_OF_END_64, SIZE_OF_LOCATOR_64, SIZE_OF_MEMBER = 22, 56, 20, 30
LONGEST_COMMENT = (1 << 16) - 1
IS_UTF8 = 1 << 11


def open_zip(path: Path) -> zipfile.ZipFile:
    """An archive whose central directory is intact; raises BadZipFile if it is not.

    The content of a member has a CRC, which reading it checks.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (
        ValueError,
        struct.error,
    ) as error:  # a name that is not UTF-8, a place before the start of the file
        raise zipfile.BadZipFile(str(error)) from error
    try:
        file = archive.fp
        assert file is not None
        _check_count(archive, file)
        for member in archive.infolist():
            _check_name(member, file)
    except BaseException:
        archive.close()
        raise
    return archive


def _check_count(archive: zipfile.ZipFile, file: IO[bytes]) -> None:
    num_members, (promised, modulus) = len(archive.infolist()), _declared(file)
    if num_members % modulus != promised:
        raise zipfile.BadZipFile(
            f"the central directory lists {num_members:,} members but should list {promised:,}"
        )


def _declared(file: IO[bytes]) -> tuple[int, int]:
    """The number of members in the end record, and the modulus of that counter."""
    longest = SIZE_OF_END + LONGEST_COMMENT + SIZE_OF_LOCATOR_64 + SIZE_OF_END_64
    file.seek(max(0, file.seek(0, 2) - longest))
    tail = file.read()
    end = tail.rfind(END)
    locator = end - SIZE_OF_LOCATOR_64
    end_64 = locator - SIZE_OF_END_64
    if end_64 >= 0 and tail.startswith(LOCATOR_64, locator) and tail.startswith(END_64, end_64):
        return struct.unpack_from("<Q", tail, end_64 + 32)[0], 1 << 64
    return struct.unpack_from("<H", tail, end + 10)[0], 1 << 16


def _check_name(member: zipfile.ZipInfo, file: IO[bytes]) -> None:
    """The name in the directory must be that in the header of the member."""
    file.seek(member.header_offset)
    header = file.read(SIZE_OF_MEMBER)
    if len(header) < SIZE_OF_MEMBER or not header.startswith(MEMBER):
        raise zipfile.BadZipFile(f"there is no member at byte {member.header_offset:,}")
    flags, length = struct.unpack_from("<H", header, 6)[0], struct.unpack_from("<H", header, 26)[0]
    name = file.read(length).decode("utf-8" if flags & IS_UTF8 else "cp437", "surrogateescape")
    if name != member.orig_filename:
        raise zipfile.BadZipFile(
            f"the member at byte {member.header_offset:,} has two names: {member.orig_filename[:80]!r}"
            f" and {name[:80]!r}"
        )

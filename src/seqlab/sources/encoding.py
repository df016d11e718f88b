"""Detects the encoding of a text file: by its byte-order mark, else UTF-16, UTF-8 or cp1252."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from seqlab.sources.files.compression import first_bytes, open_binary
from seqlab.sources.files.lines import BOMS
from seqlab.sources.files.once_per_file import once_per_file

LOOKED_AT = 1 << 20
"""Number of bytes from which an encoding is detected."""
SEARCHED = 100 << 20
"""Number of bytes searched for the first non-ASCII character."""
PEEK = 1 << 16
MULTI_BYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""Non-ASCII characters in UTF-8."""
USUAL = frozenset(
    "äöüßÄÖÜéèêëàâáãíìîïóòôõúùûçñåøæœÅØÆÉÈÊÀÁÇÑÓÚ€…‘’“”„‚–—•™©®°£§«»¿¡·´`²³½¼µ×±\xa0šžŠŽý".encode("cp1252")
) - set(range(0x80))
"""Non-ASCII bytes that are frequent in Western European text."""


@once_per_file  # called several times while a file is opened
def detect_encoding(path: Path) -> str:
    """The encoding of a file; empty for UTF-8 or if it cannot be detected."""
    with open_binary(path) as stream:
        sample, searched = stream.read(LOOKED_AT), LOOKED_AT
        if encoding := _marked(sample):
            return "" if encoding == "utf-8" else encoding
        while sample.isascii() and b"\0" not in sample and searched < SEARCHED:
            if not (block := stream.read(LOOKED_AT)):
                break
            sample, searched = block, searched + len(block)
    return encoding_of(sample)


def encoding_of(content: bytes) -> str:
    """The encoding of some text; empty for UTF-8 or if it cannot be detected."""
    if encoding := _marked(content):
        return "" if encoding == "utf-8" else encoding
    if b"\0" in content[:PEEK]:
        return _utf16(content[:PEEK])
    return "" if _is_utf8(content) or not _looks_like_cp1252(content) else "cp1252"


def _marked(start: bytes) -> str:
    """The encoding given by a byte-order mark."""
    return next((encoding for mark, encoding in BOMS.items() if start.startswith(mark)), "")


def describe_encoding(encoding: str) -> str:
    """One line for the user; empty for UTF-8."""
    names = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32": "UTF-32"}
    if not encoding:
        return ""
    name = names.get(encoding, encoding)
    why = "not UTF-8, so probably Windows Western European" if encoding == "cp1252" else "by its first bytes"
    return f"encoding {name} ({why}); set data.encoding=NAME to change it"


def describe_encodings(encodings: Iterable[str]) -> tuple[str, ...]:
    """A line for each encoding of several files that is not UTF-8."""
    return tuple(describe_encoding(encoding) for encoding in sorted(set(encodings)) if encoding)


def first_lines(path: Path, encoding: str = "") -> list[str]:
    """The whole lines at the start of a file, without their ends, at most 64 kB of them."""
    start = first_bytes(path, PEEK)
    text = start.decode(encoding or detect_encoding(path) or "utf-8", errors="replace")
    lines = re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff"))
    return lines[:-1] if len(start) == PEEK or not lines[-1] else lines


def _is_utf8(start: bytes) -> bool:
    """Whether everything decodes; the last character may be cut, here or in the file."""
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _looks_like_cp1252(start: bytes) -> bool:
    """Neither corrupted UTF-8 nor arbitrary bytes: most non-ASCII bytes are isolated, and are
    frequent letters and marks.
    """
    beyond = re.findall(rb"[\x80-\xff]", start)
    in_characters = sum(map(len, MULTI_BYTE.findall(start)))
    return 2 * in_characters < len(beyond) and sum(byte[0] in USUAL for byte in beyond) > 0.9 * len(beyond)


def _utf16(start: bytes) -> str:
    """UTF-16 without a byte-order mark: in Western text every other byte is NUL, and its position gives the byte order."""
    pairs = len(start) // 2
    even, odd = start[::2].count(0), start[1::2].count(0)
    if odd > 0.6 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.05 * pairs else ""

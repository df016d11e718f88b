"""Bytes -> lines of text, with their line numbers.

Decoding goes line by line, so that errors name the position of a bad byte. Whatever the encoding, blocks are
converted to UTF-8 first, in which line ends are single bytes that no other character contains.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.core.files import megabytes
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.files.compression import BLOCK, read_blocks

LONGEST_LINE = 50_000_000
BOMS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


class Lines:
    """One pass over the lines of a file, with their line ends. Line numbers count physical lines from 1.

    With `keep_bad`, a line that cannot be decoded is still returned, its bad bytes as lone surrogates, and
    `problem` is set: a table reader needs every physical line to keep its own count, and rejects the row
    itself.
    """

    def __init__(self, path: Path, *, encoding: str, keep_bad: bool = False) -> None:
        self._path = path
        self._encoding = encoding
        self._keep_bad = keep_bad
        self.problem: DataError | None = None

    def __iter__(self) -> Iterator[str]:
        for first, block in line_blocks(self._path, encoding=self._encoding):
            for offset, raw in enumerate(block.splitlines(keepends=True)):
                try:
                    yield raw.decode()
                except UnicodeDecodeError as error:
                    problem = _undecodable(self._path, first + offset, raw, error)
                    if not self._keep_bad:
                        raise problem from error
                    self.problem = problem
                    yield raw.decode(errors="surrogateescape")


def text_blocks(path: Path, *, encoding: str, bad_rows: BadRows) -> Iterator[str]:
    """The text in large pieces with its line ends; lines of any length, since long ones are cut."""
    reading = bad_rows.new_pass()
    for first, block in line_blocks(path, encoding=encoding, cut_long=True):
        try:
            yield block.decode()
        except UnicodeDecodeError:
            yield _good_lines(path, first, block, reading)


def line_blocks(path: Path, *, encoding: str, cut_long: bool = False) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines as UTF-8, each with the number of its first line.

    A line longer than LONGEST_LINE bytes is an error or, with `cut_long`, is returned in several
    blocks.
    """
    number, pending, size = 1, list[bytes](), 0
    for read in utf8_blocks(path, encoding=encoding):
        block, cut = read, _last_line_end(read)
        if b"\0" in block:
            raise _nul(path, number, b"".join([*pending, block]))
        if not cut and cut_long:
            block = b"".join([*pending, block])
            pending, size, cut = [], 0, _last_whole_character(block)
        if cut:
            whole = b"".join([*pending, block[:cut]])
            yield number, whole
            number += count_line_ends(whole)
            pending, size = [], 0
        pending.append(block[cut:])
        size += len(block) - cut
        if size > LONGEST_LINE:
            raise DataError(
                f"line {number} is longer than {megabytes(LONGEST_LINE)}.",
                where=str(path),
                cure=(
                    "Tables and JSONL files have one row per line: are the line breaks missing? Plain text"
                    " may have lines of any length (data.format=text)."
                ),
            )
    if rest := b"".join(pending):
        yield number, rest


def utf8_blocks(path: Path, *, encoding: str) -> Iterator[bytes]:
    """The file's text as UTF-8 without a byte order mark."""
    blocks = read_blocks(path)
    first = next(blocks, b"")
    mark = next((bom for bom in BOMS if first.startswith(bom)), b"")
    if encoding_name(encoding, path=path) != "utf-8":
        yield from _transcode(path, first, blocks, encoding=encoding)
        return
    if mark and BOMS[mark] != "utf-8":
        raise DataError(
            f"is {BOMS[mark].upper()} text (it starts with {mark!r}).",
            where=str(path),
            cure=f"Set data.encoding={BOMS[mark]}.",
        )
    yield first[len(mark) :]
    yield from blocks


def encoding_name(encoding: str, *, path: Path) -> str:
    """Python's name for an encoding of text; `utf-8-sig` counts as UTF-8, since a byte order mark is dropped
    anyway.
    """
    encoding = encoding or "utf-8"
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeError):
            b"a".decode(encoding)  # refuses rot13 and the like, which are codecs but not encodings of text
    except (LookupError, ValueError) as error:
        raise DataError(
            f"unknown encoding '{encoding}'.",
            where=str(path),
            cure="Set data.encoding to utf-8, utf-16, latin-1, cp1252, …",
        ) from error
    return "utf-8" if name in ("utf-8", "utf-8-sig", "ascii") else name


def count_line_ends(block: bytes) -> int:
    """
    >>> count_line_ends(b"a\\nb\\r\\nc\\rd")
    3
    """
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def _last_line_end(block: bytes) -> int:
    """Where the last whole line ends.

    A carriage return at the very end may be half of CR LF, so it does not count yet.
    """
    return block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, len(block) - 1) + 1


def _last_whole_character(block: bytes) -> int:
    """The start of the last character that is not ASCII, if it is near the end: it may be incomplete."""
    for back in range(1, min(4, len(block)) + 1):
        if block[-back] >= 0xC0:
            return len(block) - back
        if block[-back] < 0x80:
            break
    return len(block) - 1 if block.endswith(b"\r") else len(block)


def _transcode(path: Path, first: bytes, blocks: Iterator[bytes], *, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    number, block = 1, first
    try:
        while block:
            text = decoder.decode(block).encode("utf-8", "surrogatepass")
            yield text
            number += count_line_ends(text)
            block = next(blocks, b"")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        # Decoders that expect a byte-order mark raise the base class, which has no position.
        encoding_found = (
            f"bytes {error.object[error.start : error.end][:8]!r} are"
            if isinstance(error, UnicodeDecodeError)
            else f"{error}: this is"
        )
        number += count_line_ends(error.object[: error.start]) if isinstance(error, UnicodeDecodeError) else 0
        cure = "Is this the encoding it was written in? The default is utf-8."
        raise DataError(
            f"{encoding_found} not {encoding}.", where=f"{path}, line {number}", cure=cure
        ) from error


def _good_lines(path: Path, first: int, block: bytes, reading: Pass) -> str:
    good = []
    for offset, raw in enumerate(block.splitlines(keepends=True)):
        try:
            good.append(raw.decode())
        except UnicodeDecodeError as error:
            reading.reject(_undecodable(path, first + offset, raw, error))
    return "".join(good)


def _undecodable(path: Path, line: int, raw: bytes, error: UnicodeDecodeError) -> DataError:
    column = len(raw[: error.start].decode(errors="replace")) + 1
    hex_bytes = " ".join(f"{byte:02x}" for byte in raw[error.start : error.start + 4])
    return DataError(
        f"not UTF-8 (bytes {hex_bytes}).",
        where=f"{path}, line {line}, column {column}",
        cure=(
            "Set data.encoding=cp1252 (or the encoding it was written in), or skip such rows with"
            " data.bad_rows=skip."
        ),
    )


def _nul(path: Path, number: int, block: bytes) -> DataError:
    at = block.index(b"\0")
    where = f"{path}, line {number + count_line_ends(block[:at])}"
    if block[:BLOCK].count(b"\0") * 3 > len(block[:BLOCK]):
        return DataError(
            "every other byte is NUL, as in UTF-16 text.",
            where=where,
            cure="Set data.encoding=utf-16-le (or utf-16-be).",
        )
    return DataError(
        "contains a NUL byte, so it is not a text file, or it is corrupted.",
        where=where,
        cure="Pass a text file; if it is one, remove the NUL bytes.",
    )


def decode_whole(content: bytes, *, encoding: str, where: str) -> str:
    """Decode a small file at once, by the same rules."""
    encoding = encoding or "utf-8"
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode(encoding)
    except UnicodeDecodeError as error:
        line = 1 + count_line_ends(content[: error.start])
        hex_bytes = " ".join(f"{byte:02x}" for byte in content[error.start : error.start + 4])
        cure = (
            "Set data.encoding=cp1252 (or the encoding it was written in), or skip such rows with"
            " data.bad_rows=skip."
        )
        raise DataError(
            f"not {encoding} (bytes {hex_bytes}).", where=f"{where}, line {line}", cure=cure
        ) from error
    except LookupError as error:
        raise DataError(
            f"unknown encoding '{encoding}'.",
            where=where,
            cure="Set data.encoding to utf-8, utf-16, latin-1, cp1252, …",
        ) from error
    if "\0" in text:
        raise DataError(
            "contains a NUL byte, so it is not a text file, or it is corrupted.",
            where=where,
            cure="Remove the file, or set data.bad_rows=skip.",
        )
    return text

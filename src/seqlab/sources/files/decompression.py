"""Compressed bytes as a stream that is verified up to its last byte.

A compressed file may hold several streams, one after the other: pbzip2 writes one for every 900 kB. Python's
`BZ2File` and `LZMAFile` ignore a later stream that is damaged, so both formats are read here. Python's
`GzipFile` rejects such a stream, and checks every CRC.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import IO, Protocol

CHUNK = 1 << 17


class DamagedStream(Exception):
    """Compressed bytes that do not decompress."""


class Decompressor(Protocol):
    """What bz2 and lzma offer for one stream."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def decompressed(file: IO[bytes], kind: str) -> IO[bytes]:
    """The decompressed bytes of an open file of the kind .gz, .xz or .bz2."""
    if kind == ".gz":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]  # a file in all but its declared type
    new_decompressor: dict[str, Callable[[], Decompressor]] = {
        ".xz": lzma.LZMADecompressor,
        ".bz2": bz2.BZ2Decompressor,
    }
    return io.BufferedReader(_Streams(file, new_decompressor[kind]), CHUNK)


class _Streams(io.RawIOBase):
    """All streams of a file as one.

    Zeros between and after them are padding; anything else must be a stream.
    """

    def __init__(self, file: IO[bytes], new_decompressor: Callable[[], Decompressor]) -> None:
        self._file = file
        self._new_decompressor = new_decompressor
        self._decompressor: Decompressor | None = new_decompressor()
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # RawIOBase declares any buffer, BufferedReader passes this one
        while self._decompressor is not None or self._begin_stream():
            data = self._decompress(len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _decompress(self, most: int) -> bytes:
        """The next bytes of the current stream, perhaps none."""
        decompressor, block = self._decompressor, b""
        assert decompressor is not None
        if decompressor.needs_input:
            block, self._pending = self._pending or self._file.read(CHUNK), b""
            if not block:
                raise EOFError("the file ends inside a compressed stream")
        try:
            data = decompressor.decompress(block, most)
        except (OSError, ValueError, lzma.LZMAError) as error:
            raise DamagedStream(str(error)) from error
        if decompressor.eof:
            self._pending, self._decompressor = decompressor.unused_data, None
        return data

    def _begin_stream(self) -> bool:
        """Skip padding and start the next stream; False at the end of the file."""
        while not (pending := self._pending.lstrip(b"\0")):
            self._pending = self._file.read(CHUNK)
            if not self._pending:
                return False
        self._pending, self._decompressor = pending, self._new_decompressor()
        return True

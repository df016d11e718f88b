"""Plain text: as one row per line, or as one long string for language models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, TextSource
from seqlab.sources.encoding import describe_encodings, detect_encoding
from seqlab.sources.files.compression import content_hash, first_bytes
from seqlab.sources.files.lines import Lines, text_blocks
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings

PEEK = 1 << 16


@source_formats.register("text")
class TextFile(TextSource):
    """One text file, or several read one after the other."""

    suffixes = (
        ".txt",
        ".text",
        ".md",
        ".rst",
        ".log",
        ".py",
        ".abc",
        ".en",
        ".de",
        ".fr",
    )

    def __init__(self, paths: Path | Sequence[Path], settings: DataSettings, *, name: str = "") -> None:
        self.paths = [paths] if isinstance(paths, Path) else list(paths)
        self.num_files = len(self.paths)
        self.name = name or str(self.paths[0])
        self.columns = ["text"]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        if all(_is_blank(path) for path in self.paths):
            raise DataError("is empty.", where=self.name, cure="Training needs some text.")
        self.notes = describe_encodings(map(self._encoding, self.paths)) if not settings.encoding else ()

    def rows(self) -> Iterator[Row]:
        yield from islice(self._all_rows(), self._settings.max_rows or None)

    def chunks(self, size: int) -> Iterator[str]:
        return cut_into_chunks(self._first_rows() if self._settings.max_rows else self._blocks(), size)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b("".join(content_hash(path) for path in self.paths).encode(), digest_size=16)
        return f"text:{digest.hexdigest()}:{self._settings.encoding}:{self._settings.bad_rows}:{self._settings.max_rows}"

    def _all_rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for path in self.paths:
            lines = Lines(path, encoding=self._encoding(path), keep_bad=self.bad_rows.skip)
            for number, line in enumerate(lines, start=1):
                if lines.problem is not None:
                    reading.reject(lines.problem)
                    lines.problem = None
                else:
                    yield Row({"text": line.rstrip("\r\n")}, str(path), number)

    def _encoding(self, path: Path) -> str:
        """Each of several files may have its own encoding; that of a single file is in the settings once it is opened."""
        return self._settings.encoding or (detect_encoding(path) if self.num_files > 1 else "")

    def _first_rows(self) -> Iterator[str]:
        for row in self.rows():
            yield row.values["text"] + "\n"

    def _blocks(self) -> Iterator[str]:
        for path in self.paths:
            block = ""
            for block in text_blocks(path, encoding=self._encoding(path), bad_rows=self.bad_rows):
                yield block
            if self.num_files > 1 and block and not block.endswith(("\n", "\r")):
                yield "\n"  # the next file starts on a new line


def cut_into_chunks(pieces: Iterator[str], size: int) -> Iterator[str]:
    """Pieces of any length -> pieces of at most `size` characters that end at line breaks wherever one
    is near.

    >>> list(cut_into_chunks(iter(["ab\\ncd", "ef\\ng"]), 4))
    ['ab\\n', 'cdef', '\\ng']
    """
    waiting, length = list[str](), 0
    for piece in pieces:
        waiting.append(piece)
        length += len(piece)
        if length < size:
            continue
        text, start = "".join(waiting), 0
        while len(text) - start >= size:
            end = text.rfind("\n", start, start + size) + 1 or start + size
            yield text[start:end]
            start = end
        waiting, length = [text[start:]], len(text) - start
    if rest := "".join(waiting):
        yield rest


def _is_blank(path: Path) -> bool:
    start = first_bytes(path, PEEK)
    return len(start) < PEEK and not start.strip()

"""Catalogs of translated messages: gettext's .po and .mo. The columns are msgid and msgstr.

Entries that are untranslated, fuzzy or obsolete (#~) are skipped, and so is the header, the entry
of the empty msgid. Each plural form is a row: the first with msgid, the others with msgid_plural. Contexts
are ignored.

Format: the manual of GNU gettext, sections "The Format of PO Files" and "The Format of GNU MO Files".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from seqlab.core.errors import DataError, shortened
from seqlab.core.files import megabytes
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import PairSource, Row
from seqlab.sources.files.compression import content_hash, first_bytes, read_blocks
from seqlab.sources.files.lines import Lines, count_line_ends, encoding_name
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings

SOURCE, TARGET = "msgid", "msgstr"
MAGIC = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
"""The first bytes of a .mo file, and the byte order of its numbers."""
LARGEST = 500_000_000
"""Maximum size of a .mo file in bytes; it is read into memory."""
PEEK = 1 << 14
CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
UNNAMED = "CHARSET"
"""The placeholder for the encoding in an unfilled template."""
OBSOLETE = "#~"
TOKEN = re.compile(
    r'(?:(msgctxt|msgid_plural|msgid|msgstr(?:\s*\[\s*\d{1,3}\s*\])?)(?![\w\[])|"((?:[^"\\]|\\.)*)")\s*'
)
"""A keyword, or a quoted string.

Line breaks between them are ignored, and consecutive strings are concatenated.
"""
ESCAPE = re.compile(r"((?:\\(?:[0-7]{1,3}|x[0-9A-Fa-f]+))+)|\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"'}
SKIP = "Fix the entry, or skip such entries with data.bad_rows=skip."


@dataclass
class Entry:
    """The strings of each keyword; `problem` is the first error."""

    line: int = 0
    fields: dict[str, list[str]] = field(default_factory=dict)
    open_field: str = ""
    is_fuzzy: bool = False
    problem: DataError | None = None

    @property
    def has_answer(self) -> bool:
        return any(name.startswith(TARGET) for name in self.fields)

    @property
    def missing(self) -> str:
        """What the entry lacks to be complete."""
        absent = [
            name
            for name in (SOURCE, TARGET)
            if not any(field_name.startswith(name) for field_name in self.fields)
        ]
        bare = [f"text after {name}" for name, pieces in self.fields.items() if not pieces]
        return next(iter(absent + bare), "") if self.fields else ""

    def pairs(self) -> Iterator[tuple[str, str]]:
        text = {name: "".join(pieces) for name, pieces in self.fields.items()}
        single = text.get(SOURCE, "")
        for name, answer in text.items():
            if name.startswith(TARGET):
                yield (
                    (single if name in (TARGET, f"{TARGET}[0]") else text.get("msgid_plural", single)),
                    answer,
                )


@source_formats.register("gettext")
class Gettext(PairSource):
    """The pairs of one catalog.

    The line of a row is that of its msgid; in a .mo file its number among the messages.
    """

    suffixes = (
        ".po",
        ".mo",
    )

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = [SOURCE, TARGET]
        self.bad_rows = BadRows(skip=settings.bad_rows == "skip")
        self._settings = settings
        self._order = MAGIC.get(first_bytes(path, 4), "")

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._translated,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="contains no translated messages.",
            cure='A message is msgid "…" and msgstr "…"; fuzzy messages are skipped.',
        )

    def fingerprint(self) -> str:
        return f"gettext:{content_hash(self.path)}:{self._settings.encoding}:{self._settings.bad_rows}:{self._settings.max_rows}"

    def _translated(self, reading: Pass) -> Iterator[Row]:
        for line, (source, target) in self._compiled(reading) if self._order else self._written(reading):
            if source.strip() and target.strip():
                yield Row({SOURCE: source, TARGET: target}, self.name, line)

    def _encoding_in(self, header: bytes, *, place: str) -> str:
        """The header declares it; a setting other than the default overrides it. place: a line or a message, for
        errors.
        """
        match = CHARSET.search(header)
        named = match[1].decode() if match else ""
        if self._settings.encoding != DataSettings().encoding or named in ("", UNNAMED):
            return self._settings.encoding or "utf-8"
        try:
            encoding_name(named, path=self.path)
        except DataError as error:
            raise DataError(error.what, where=f"{self.name}, {place}", cure=error.cure) from error
        return named

    def _written(self, reading: Pass) -> Iterator[tuple[int, tuple[str, str]]]:
        """The pairs of a .po file."""
        for entry in self._entries():
            if entry.problem is not None:
                reading.reject(entry.problem)
            elif entry.missing:
                reading.reject(self._wrong(f"an entry has no {entry.missing}.", entry.line))
            elif not entry.is_fuzzy:
                yield from ((entry.line, pair) for pair in entry.pairs())

    def _entries(self) -> Iterator[Entry]:
        """An obsolete entry is separate, together with the flags above it: the line after it starts
        a new entry.
        """
        start = first_bytes(self.path, PEEK)
        named = CHARSET.search(start)
        named_on = 1 + count_line_ends(start[: named.start() if named else 0])
        encoding = self._encoding_in(start, place=f"line {named_on}")
        lines = Lines(self.path, encoding=encoding, keep_bad=self.bad_rows.skip)
        entry = Entry()
        for number, raw in enumerate(lines, start=1):
            line = raw.strip()
            problem, lines.problem = lines.problem, None
            if line.startswith("#"):
                if entry.has_answer or line.startswith(OBSOLETE):
                    yield entry
                    entry = Entry()
                entry.is_fuzzy |= line.startswith("#,") and "fuzzy" in re.split(r"[,\s]+", line[2:])
                problem, line = None if line.startswith(OBSOLETE) else problem, ""
            place = 0
            while token := TOKEN.match(line, place):
                keyword, place = "".join((token[1] or "").split()), token.end()
                if keyword in ("msgctxt", SOURCE) and entry.has_answer:
                    yield entry
                    entry = Entry()
                self._take(entry, keyword, token[2], number, encoding)
            if place < len(line):
                what = f"expected msgid, msgstr or a quoted string, found {shortened(line[place:])!r}."
                entry.problem = entry.problem or self._wrong(what, number)
            entry.problem = entry.problem or problem
        if entry.fields or entry.problem:
            yield entry

    def _take(self, entry: Entry, keyword: str, quoted: str, number: int, encoding: str) -> None:
        """Start the field of a keyword, or append a string to the current one."""
        if keyword in entry.fields:
            entry.problem = entry.problem or self._wrong(f"a second {keyword} in one entry.", number)
        elif keyword:
            entry.open_field, entry.fields[keyword] = keyword, []
            entry.line = number if keyword == SOURCE else entry.line or number
        elif not entry.open_field:
            entry.problem = entry.problem or self._wrong(
                f"expected msgid, found {shortened(quoted)!r}.", number
            )
        else:
            try:
                entry.fields[entry.open_field].append(unescaped(quoted, encoding))
            except ValueError as error:
                entry.problem = entry.problem or self._wrong(str(error), number)

    def _wrong(self, what: str, number: int) -> DataError:
        return DataError(what, where=f"{self.name}, line {number}", cure=SKIP)

    def _compiled(self, reading: Pass) -> Iterator[tuple[int, tuple[str, str]]]:
        """The pairs of a .mo file: two tables of (length, place), one of messages and one of translations."""
        content = self._whole()
        try:
            _, _, count, messages, answers = struct.unpack_from(f"{self._order}5I", content)
        except struct.error as error:
            raise self._damaged("is shorter than its 20-byte header") from error
        if max(messages, answers) + 8 * count > len(content):
            raise self._damaged(f"declares {count:,} messages but has only {len(content):,} bytes")
        encoding = self._settings.encoding or "utf-8"
        for number in range(count):
            try:
                pair = [self._bytes(content, table + 8 * number) for table in (messages, answers)]
                encoding = (
                    encoding if pair[0] else self._encoding_in(pair[1], place="message 1")
                )  # the header is the first message, since they are sorted
                source, target = (text.decode(encoding) for text in pair)
            except (UnicodeDecodeError, ValueError) as error:
                reading.reject(
                    DataError(
                        f"{error}.",
                        where=f"{self.name}, message {number + 1}",
                        cure="Compile it again, or skip such messages with data.bad_rows=skip.",
                    )
                )
                continue
            singular, _, plural = source.rpartition("\x04")[2].partition("\0")
            for place, answer in enumerate(target.split("\0")):
                yield number + 1, (plural if place and plural else singular, answer)

    def _bytes(self, content: bytes, place: int) -> bytes:
        length, start = struct.unpack_from(f"{self._order}2I", content, place)
        if start + length > len(content):
            raise ValueError(f"a string of {length:,} bytes extends past the end of the file")
        return content[start : start + length]

    def _whole(self) -> bytes:
        blocks, size = list[bytes](), 0
        for block in read_blocks(self.path):
            blocks.append(block)
            size += len(block)
            if size > LARGEST:
                raise self._damaged(f"is larger than {megabytes(LARGEST)}")
        return b"".join(blocks)

    def _damaged(self, what: str) -> DataError:
        return DataError(
            f"{what}: not a complete .mo file.",
            where=self.name,
            cure="Compile it again with msgfmt, or pass the .po file.",
        )


def unescaped(text: str, encoding: str) -> str:
    r"""A string with its escapes resolved, as in C. Octal and hexadecimal escapes are bytes, of which several
    may form one character.

    >>> unescaped(r"a\tb \"\303\244\"", "utf-8"), unescaped(r"\033[1m", "utf-8") == unescaped(r"\x1b[1m", "utf-8")
    ('a\tb "ä"', True)
    """

    def meant(match: re.Match[str]) -> str:
        try:
            codes = [
                int(code[1:], 16) if code[0] == "x" else int(code, 8)
                for code in (match[1] or "").split("\\")[1:]
            ]
            if 0 in codes:
                raise ValueError("texts end there")
            return bytes(codes).decode(encoding) if codes else ESCAPES[match[2]]
        except (KeyError, ValueError) as error:
            raise ValueError(f"'{shortened(match[0])}' is not a valid escape sequence.") from error

    return ESCAPE.sub(meant, text)

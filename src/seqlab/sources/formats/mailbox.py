"""Mail in one file (mbox). The columns are sender, subject and text, and labels if a takeout of a mail service has them.

The text of a message is its plain part, else its HTML part without markup. Attachments are ignored.

Format: RFC 4155; `>From ` at the start of a line stands for `From `.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage
from html import unescape
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.core.files import megabytes
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row
from seqlab.sources.files.compression import open_binary
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.row_file import RowFile
from seqlab.sources.settings import DataSettings

SENDER, SUBJECT, TEXT, LABELS = "sender", "subject", "text", "labels"
LABEL_HEADERS = ("X-Gmail-Labels", "X-Keywords", "Keywords")
SEPARATOR = b"From "
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
HEADER = re.compile(r"[!-9;-~]+:( |$)")
LARGEST = 100_000_000
"""Maximum number of bytes of a message; it is read into memory."""
LONGEST_PIECE = 1 << 20
SAMPLE = 50
"""Messages that are searched for labels."""
SKIP = "Skip such messages with data.bad_rows=skip, or remove the message."
MARKUP = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>")
MAIL = "mail: sender, subject and text of every message; set data.format=text to read the file as plain text"


@source_formats.register("mailbox")
class Mailbox(RowFile):
    """A row for each message."""

    suffixes = (".mbox", ".mbx")
    format_name = "mailbox"
    no_rows = "contains no mail with a text."
    expected = "Each message must begin with a line 'From …' and its headers."

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self.settings = settings
        first = islice(BadRows(skip=True).limited(self._messages), SAMPLE)
        self._label_header = next(
            (name for message, _ in first for name in LABEL_HEADERS if message[name] is not None), ""
        )
        self.columns = [SENDER, SUBJECT, TEXT, *([LABELS] if self._label_header else [])]
        self.notes = (MAIL,)

    def read_rows(self, reading: Pass) -> Iterator[Row]:
        for message, line in self._messages(reading):
            where = f"{self.name}, line {line}"
            try:
                text = _body(message)
                values = {
                    SENDER: str(message["From"] or ""),
                    SUBJECT: str(message["Subject"] or ""),
                    TEXT: text,
                }
                labels = str(message[self._label_header] or "") if self._label_header else ""
            except (MessageError, LookupError, ValueError, AttributeError) as error:
                reading.reject(DataError(f"the message cannot be read ({error}).", where=where, cure=SKIP))
                continue
            yield Row(values | ({LABELS: labels} if self._label_header else {}), self.name, line)

    def _messages(self, reading: Pass) -> Iterator[tuple[EmailMessage, int]]:
        """Every message, and the line on which it starts."""
        for block, line in self._blocks(reading):
            content = QUOTED_FROM.sub(rb"\1", block.partition(b"\n")[2])
            message = message_from_bytes(content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            yield message, line

    def _blocks(self, reading: Pass) -> Iterator[tuple[bytes, int]]:
        """The bytes of every message: it begins with `From ` after a blank line."""
        parts, size, begin, is_after_blank = list[bytes](), 0, 1, True
        for number, line in _numbered_lines(self.path):
            if is_after_blank and line.startswith(SEPARATOR):
                if parts:
                    yield b"".join(parts), begin
                parts, size, begin = [], 0, number
            size += len(line)
            if size <= LARGEST:
                parts.append(line)
            elif parts:
                what = f"a message is larger than {megabytes(LARGEST)}."
                reading.reject(DataError(what, where=f"{self.name}, line {begin}", cure=SKIP))
                parts = []
            is_after_blank = not line.strip()
        if parts:
            yield b"".join(parts), begin


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of bytes with their ends; a very long line comes in pieces."""
    number = 1
    with open_binary(path) as stream:
        while line := stream.readline(LONGEST_PIECE):
            yield number, line
            number += line.endswith(b"\n")


def _body(message: EmailMessage) -> str:
    """The text of a message; empty if it has none."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = str(part.get_content()).replace("\r\n", "\n")
    return (unescape(MARKUP.sub(" ", text)) if part.get_content_subtype() == "html" else text).strip()


def looks_like_mail(lines: Sequence[str]) -> bool:
    """Whether the first line separates messages, and headers follow.

    >>> looks_like_mail(["From me Fri Mar  1 10:00:00 2024", "Subject: hello", "From: me@example.org", "", "hello"])
    True
    >>> looks_like_mail(["From here: to there", "Or: not", "so it goes"])
    False
    """
    head = lines[1 : lines.index("")] if "" in lines else []
    headers = [line for line in head if not line.startswith((" ", "\t"))]
    return (
        lines[0].startswith("From ")
        and len(headers) > 1
        and all(HEADER.match(line) for line in headers)
        and any(line.lower().startswith(("from:", "subject:", "date:")) for line in headers)
    )

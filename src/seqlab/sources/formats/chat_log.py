"""Conversations that messengers and chat servers write as text. The columns are author and text.

    [01.03.24, 08:15:09] Anna: are we still meeting?        01/03/2024, 08:15 - Anna: are we still meeting?
    [08:15] <anna> are we still meeting?                    2024-03-01 08:15 Anna: are we still meeting?

A message continues until the next line with a time. Notices without an author and left-out media are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.row_file import RowFile
from seqlab.sources.settings import DataSettings

AUTHOR, TEXT = "author", "text"
DAY = r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\.?,?[T ]\s*)?"
CLOCK = r"\d{1,2}:\d\d(:\d\d)?(\s?[AaPp]\.?[Mm]\.?)?"
STAMP = re.compile(rf"[\u200e\u200f]*(\[{DAY}{CLOCK}\]|{DAY}{CLOCK}( -|:|,)?)[\s\u202f]+")
"""A time, mostly with a date, in brackets or before a dash."""
SPEAKER = re.compile(r"[\u200e\u200f]*(?:<([^<>:]{1,40})>|([^:<>\[\]]{1,40}?):)(?:\s+|$)")
LEFT_OUT = re.compile(r"[\u200e\u200f]*<[^<>]{3,40}>")
"""A placeholder such as <Media omitted>."""
FEWEST_MESSAGES = 20
MOST_WORDS_OF_NAME = 4
MESSAGES_PER_AUTHOR = 3
"""Minimum average number of messages of an author: sentences with a colon have other words before it every time."""
LEVELS = {
    "trace",
    "debug",
    "info",
    "notice",
    "warn",
    "warning",
    "error",
    "err",
    "critical",
    "fatal",
    "severe",
}
"""What comes before the message in the logs of programs."""
CHAT = (
    "a conversation: author and text of every message; set data.format=text to read it as plain text, or"
    " task=classification data.label=author to predict who wrote a message"
)


@source_formats.register("chat_log")
class ChatLog(RowFile):
    """A row for each message."""

    suffixes = ()
    format_name = "chat_log"
    no_rows = "contains no messages."
    expected = "Each message must begin with a time and an author, such as [01.03.24, 08:15] Anna: hello."

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = [AUTHOR, TEXT]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self.settings = settings
        self.notes = (CHAT,)

    def read_rows(self, reading: Pass) -> Iterator[Row]:
        lines = Lines(self.path, encoding=self.settings.encoding, keep_bad=self.bad_rows.tolerates)
        author, parts, begin = "", list[str](), 0
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
            elif stamp := STAMP.match(line):
                yield from self._message(author, parts, begin)
                author, text = split_message(line[stamp.end() :])
                parts, begin = [text], number
            else:
                parts.append(line.strip())
        yield from self._message(author, parts, begin)

    def _message(self, author: str, parts: Sequence[str], begin: int) -> Iterator[Row]:
        """The message that starts on line `begin`; nothing for notices and left-out media."""
        text = "\n".join(parts).strip()
        if author and text and not LEFT_OUT.fullmatch(text):
            yield Row({AUTHOR: author, TEXT: text}, self.name, begin)


def split_message(line: str) -> tuple[str, str]:
    """The author of a message, empty for a notice, and its text.

    >>> split_message("Ben Miller: at 8:15?"), split_message("<ben> hi"), split_message("Ben left")
    (('Ben Miller', 'at 8:15?'), ('ben', 'hi'), ('', 'Ben left'))
    """
    speaker = SPEAKER.match(line)
    if speaker is None:
        return "", line.strip()
    return (speaker[1] or speaker[2]).strip(), line[speaker.end() :].strip()


def looks_like_chat(lines: Sequence[str]) -> bool:
    """Whether most lines begin with a time, most of those with an author, and authors come back.

    >>> looks_like_chat(["[01.03.24, 08:15] Anna: hello", "[01.03.24, 08:16] Ben: hi"] * 20)
    True
    >>> looks_like_chat(["2024-03-01 12:00:01 ERROR: no", "2024-03-01 12:00:02 INFO: yes"] * 20)
    False
    """
    rests = [line[stamp.end() :] for line in lines if (stamp := STAMP.match(line))]
    authors = [author for rest in rests if (author := split_message(rest)[0])]
    names = set(authors)
    return (
        len(authors) >= max(FEWEST_MESSAGES, MESSAGES_PER_AUTHOR * len(names))
        and 2 * len(rests) >= len(lines)
        and len(authors) >= 0.8 * len(rests)
        and len(names) > 1
        and all(len(name.split()) <= MOST_WORDS_OF_NAME for name in names)
        and not {name.strip("[] ").lower() for name in names} & LEVELS
    )

"""Subtitles: SubRip (.srt) and WebVTT (.vtt). A line of text for every cue; numbers, times and markup are dropped.

12
00:01:04,500 --> 00:01:07,250
- Are you coming?
- <i>In a minute.</i>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, TextSource
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.formats.text_file import cut_into_chunks
from seqlab.sources.settings import DataSettings

TIME = r"(\d+:)?\d\d?:\d\d[.,]\d{1,3}"
TIMES = re.compile(rf"\s*{TIME}\s*-->\s*{TIME}.*")
MARKUP = re.compile(r"</?[a-zA-Z][^>]*>|<\d[\d:.]*>|\{\\[^}]*\}")
"""<i>, <font …>, <v Speaker>, <00:01:02.000> and {\\an8}."""
FEWEST_CUES = 3
MOST_LINES_PER_CUE = 10


@source_formats.register("subtitles")
class Subtitles(TextSource):
    """The text of the cues in order, one per line."""

    suffixes = (".srt", ".vtt")
    counts_every_line = False

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = ["text"]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        self.notes = (SUBTITLES,)

    def rows(self) -> Iterator[Row]:
        cues = islice(self._cues(), self._settings.max_rows or None)
        first = next(cues, None)
        if first is None:
            raise DataError(
                "contains no subtitles.",
                where=self.name,
                cure="Each text follows a line such as 00:01:04,500 --> 00:01:07,250. To read the file as plain text, set"
                " data.format=text",
            )
        yield first
        yield from cues

    def chunks(self, size: int) -> Iterator[str]:
        return cut_into_chunks((row.values["text"] + "\n" for row in self.rows()), size)

    def fingerprint(self) -> str:
        settings = self._settings
        return (
            f"subtitles:{content_hash(self.path)}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"
        )

    def _cues(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.skip)
        parts, begin = list[str](), 0
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
            elif TIMES.match(line):
                parts, begin = [], number
            elif line.strip():
                parts.append(line)
            else:
                yield from self._cue(parts, begin)
                parts, begin = [], 0
        yield from self._cue(parts, begin)

    def _cue(self, parts: Sequence[str], begin: int) -> Iterator[Row]:
        """The cue whose times are on line `begin`; nothing for other blocks, such as notes, and for empty cues."""
        text = " ".join(MARKUP.sub("", " ".join(parts)).split())
        if begin and text:
            yield Row({"text": text}, self.name, begin)


SUBTITLES = "subtitles: numbers, times and markup are dropped; set data.format=text to keep them"


def looks_like_subtitles(lines: Sequence[str]) -> bool:
    """Whether times of cues come back every few lines.

    >>> looks_like_subtitles(["1", "00:00:01,000 --> 00:00:02,000", "Yes.", ""] * 5), looks_like_subtitles(["a --> b"] * 9)
    (True, False)
    """
    count = sum(bool(TIMES.fullmatch(line)) for line in lines)
    return count >= FEWEST_CUES and count * MOST_LINES_PER_CUE >= len(lines)

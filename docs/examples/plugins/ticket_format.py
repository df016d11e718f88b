"""A source format of your own: tickets, one per line, each with its queue before a bar.

billing | I was charged twice
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seqlab import register
from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.settings import DataSettings


@register.source_format("tickets")
class Tickets(Source):
    """The tickets of one file; the columns are `text` and `label`."""

    suffixes = (".tickets",)

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = ["text", "label"]
        self.bad_rows = BadRows(skip=settings.bad_rows == "skip")
        self._settings = settings

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._read,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="holds no ticket.",
            cure="Write one ticket per line: queue | text",
        )

    def fingerprint(self) -> str:
        settings = self._settings
        return (
            f"tickets:{content_hash(self.path)}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"
        )

    def _read(self, reading: Pass) -> Iterator[Row]:
        for number, line in enumerate(Lines(self.path, encoding=self._settings.encoding), start=1):
            queue, bar, text = line.partition("|")
            if bar:
                yield Row({"text": text.strip(), "label": queue.strip()}, self.name, number)
            elif line.strip():
                where = f"{self.name}, line {number}"
                reading.reject(DataError("the line has no bar.", where=where, cure="queue | text"))

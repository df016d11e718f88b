"""What files of rows share: the policy for bad rows, the limit of rows, and a fingerprint of the content."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.settings import DataSettings


class RowFile(Source):
    """A file that is read row by row; an unusable row is rejected by the pass that reads it."""

    format_name: ClassVar[str]
    no_rows: ClassVar[str]
    """The error for a file without rows, and what is expected instead."""
    expected: ClassVar[str]
    path: Path
    settings: DataSettings

    @abstractmethod
    def read_rows(self, reading: Pass) -> Iterator[Row]:
        """The rows of one pass over the file."""

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self.read_rows,
            most=self.settings.max_rows,
            where=self.name,
            otherwise=self.no_rows,
            cure=self.expected,
        )

    def fingerprint(self) -> str:
        settings = self.settings
        parts = (content_hash(self.path), settings.encoding, settings.bad_rows, settings.max_rows)
        return ":".join(map(str, (self.format_name, *parts)))

    def parse_lines(self, parse: Callable[[str, int], dict[str, Any]], reading: Pass) -> Iterator[Row]:
        """A row for each line that is not blank.

        parse: the cells of a line, given its number; a DataError rejects the line.
        """
        lines = Lines(self.path, encoding=self.settings.encoding, keep_bad=self.bad_rows.tolerates)
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
            elif not line.isspace():
                try:
                    yield Row(parse(line, number), self.name, number)
                except DataError as error:
                    reading.reject(error)

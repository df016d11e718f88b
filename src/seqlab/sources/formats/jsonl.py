"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import Pass
from seqlab.sources.base import Row, place_of
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.json_objects import DECODER, SKIP, JsonObjects, as_values, unusable
from seqlab.sources.formats.registry import source_formats


@source_formats.register("jsonl")
class JsonLines(JsonObjects):
    """One JSON object per line."""

    suffixes = (
        ".jsonl",
        ".ndjson",
    )
    format_name = "jsonl"
    no_rows = "is empty."
    expected = 'Expected one JSON object per line, such as {"text": "…", "label": "…"}.'

    def objects(self) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        """A line that is not JSON is text."""
        lines = Lines(self.path, encoding=self.settings.encoding, keep_bad=True)
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            value: Any = line.rstrip("\r\n")
            cells: dict[str, Any] | None = None
            if lines.problem is None:
                with suppress(ValueError, RecursionError):
                    value = DECODER.decode(line)
                with suppress(DataError):
                    cells = self._parse(line, number)
            yield value, cells
            lines.problem = None

    def read_objects(self, reading: Pass) -> Iterator[Row]:
        return self.parse_lines(self._parse, reading)

    def _parse(self, line: str, number: int) -> dict[str, Any]:
        where = place_of(self.name, number)
        try:
            value = DECODER.decode(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"invalid JSON ({error.msg.lower()}).", where=f"{where}, column {error.colno}", cure=SKIP
            ) from error
        except (ValueError, RecursionError) as error:
            raise unusable(error, where=where) from error
        return as_values(value, where=where, escaped="\\u" in line)

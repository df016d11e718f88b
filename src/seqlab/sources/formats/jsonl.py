"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source, place_of
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.json_objects import (
    DECODER,
    SAMPLE,
    SKIP,
    as_values,
    columns_of,
    lacks_key,
    required_columns,
    unusable,
    with_all_columns,
)
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings


@source_formats.register("jsonl")
class JsonLines(Source):
    """One JSON object per line. The keys of the first objects are the columns; those of objects inside them have
    dotted names.

    A key may be missing, which is an empty cell, unless the settings name the column.
    """

    suffixes = (
        ".jsonl",
        ".ndjson",
    )

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        first = BadRows.of(settings.bad_rows).limited(self._objects)
        self.columns = columns_of(islice(first, SAMPLE))
        self._required = required_columns(settings, self.columns)

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._usable_rows,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="is empty.",
            cure='One JSON object per line is needed, such as {"text": "…", "label": "…"}.',
        )

    def fingerprint(self) -> str:
        settings = self._settings
        return f"jsonl:{content_hash(self.path)}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"

    def objects(self) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        """All lines as the values they hold, or as text where they are no JSON, and their cells by column: None where
        a line is no object that can be used.
        """
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=True)
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

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        for row in self._objects(reading):
            missing = [name for name in self._required if name not in row.values]
            if missing:
                reading.reject(lacks_key(row, missing[0], self.columns))
            else:
                yield with_all_columns(row, self.columns)

    def _objects(self, reading: Pass) -> Iterator[Row]:
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.tolerates)
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
            elif not line.isspace():
                try:
                    yield Row(self._parse(line, number), self.name, number)
                except DataError as error:
                    reading.reject(error)

    def _parse(self, line: str, number: int) -> dict[str, Any]:
        where = place_of(self.name, number)
        try:
            value = DECODER.decode(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"not JSON ({error.msg.lower()}).", where=f"{where}, column {error.colno}", cure=SKIP
            ) from error
        except (ValueError, RecursionError) as error:
            raise unusable(error, where=where) from error
        return as_values(value, where=where, escaped="\\u" in line)

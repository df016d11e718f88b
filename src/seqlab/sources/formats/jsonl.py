"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.half_surrogates import refuse_half_surrogates
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of

SKIP = "Mend the line, or leave such rows out with data.bad_rows=skip."


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


# Made once: json.loads with options would make one for every line.
DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


@source_formats.register("jsonl")
class JsonLines(Source):
    """One JSON object per line. The keys of the first object are the columns.

    Every row must have the columns that the settings name or, when they name none, all columns.
    """

    suffixes = (
        ".jsonl",
        ".ndjson",
        ".json",
    )

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows(skip=settings.bad_rows == "skip")
        self._settings = settings
        first = next(self._objects(BadRows(skip=self.bad_rows.skip).new_pass()), None)
        self.columns = list(first.values) if first else []
        texts = names_of(settings.text, self.columns)
        named = [
            name
            for name in (
                *texts,
                settings.label,
                settings.source,
                settings.target,
                settings.sequence,
                *settings.features,
            )
            if name in self.columns
        ]
        self._required = named or self.columns

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
        return f"jsonl:{content_hash(self.path)}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}:{self._required}"

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        for row in self._objects(reading):
            missing = [name for name in self._required if name not in row.values]
            if missing:
                cure = (
                    "Add it, name the columns you need with data.text and data.label, or leave such rows out"
                    " with data.bad_rows=skip."
                )
                reading.reject(
                    DataError(
                        f"no key '{missing[0]}'; the first object has {','.join(self.columns)}.",
                        where=row.where,
                        cure=cure,
                    )
                )
            else:
                yield row

    def _objects(self, reading: Pass) -> Iterator[Row]:
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.skip)
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
        where = f"{self.name}, line {number}"
        try:
            value = DECODER.decode(line)
        except json.JSONDecodeError as error:
            hint = (
                "It looks like one JSON array; write its elements one per line."
                if number == 1 and line.lstrip().startswith("[")
                else SKIP
            )
            raise DataError(
                f"not JSON ({error.msg.lower()}).", where=f"{where}, column {error.colno}", cure=hint
            ) from error
        except (ValueError, RecursionError) as error:
            what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise DataError(f"JSON that cannot be used ({what}).", where=where, cure=SKIP) from error
        if not isinstance(value, dict):
            kind = {list: "an array", str: "a string", type(None): "null", bool: "true or false"}.get(
                type(value), "a number"
            )
            raise DataError(
                f"{kind}, expected an object.",
                where=where,
                cure='Each line must look like {"text": "…", "label": "…"}.',
            )
        if "\\u" in line:
            refuse_half_surrogates(value, where=where, cure=SKIP)
        return value

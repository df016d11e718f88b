"""Data that is already in memory, as a source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.core.cache import cache_folder
from seqlab.core.files import write_whole
from seqlab.sources.base import Row, Source, TextSource
from seqlab.sources.formats.text_file import cut_into_chunks
from seqlab.sources.half_surrogates import refuse_half_surrogates


class InMemoryRows(Source):
    """Rows out of a list. A row's line number is its position, from 1."""

    def __init__(self, name: str, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
        self.name = name
        self.columns = list(columns)
        self._rows = rows

    def rows(self) -> Iterator[Row]:
        for number, values in enumerate(self._rows, start=1):
            yield Row(values, self.name, number)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for values in self._rows:
            digest.update(repr([values[column] for column in self.columns]).encode("utf-8", "surrogatepass"))
        return f"memory:{digest.hexdigest()}"


class InMemoryText(TextSource):
    """One string."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.columns = ["text"]
        self._text = text

    def rows(self) -> Iterator[Row]:
        for number, line in enumerate(self._text.removesuffix("\n").split("\n"), start=1):
            yield Row({"text": line}, self.name, number)

    def chunks(self, size: int) -> Iterator[str]:
        return cut_into_chunks(iter([self._text]), size)

    def fingerprint(self) -> str:
        return f"memory:{hashlib.blake2b(self._text.encode(), digest_size=16).hexdigest()}"


def is_table(value: Any) -> bool:
    """Whether a value is a table in memory: a list of dicts, a pandas DataFrame or a Hugging Face dataset."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    return hasattr(value, "columns") or hasattr(value, "column_names")


def rows_of_table(value: Any) -> list[dict[str, Any]]:
    """The rows of a table in memory, missing values as None."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a DataFrame
        rows = value.astype(object).where(value.notna(), None).to_dict("records")
    else:
        rows = list(value)
    return [
        {str(name): cell.item() if hasattr(cell, "item") else cell for name, cell in row.items()}
        for row in rows
    ]


def open_table(value: Any, *, name: str = "table") -> InMemoryRows:
    """A table in memory as a source. Columns are those of any row, in the order in which they first occur."""
    rows = rows_of_table(value)
    for number, row in enumerate(rows, start=1):
        refuse_half_surrogates(row, where=f"{name}, line {number}", cure="Mend the row or leave it out.")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return InMemoryRows(name, columns, [{column: row.get(column) for column in columns} for row in rows])


def save_table(value: Any) -> Path:
    """A table in memory as a JSON-lines file in the cache, named after its content, so that a run can read
    its data again.
    """
    source = open_table(value)
    lines = "".join(json.dumps(row.values, ensure_ascii=False, default=str) + "\n" for row in source.rows())
    digest = hashlib.blake2b(lines.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    path = cache_folder() / "tables" / f"table-{digest}.jsonl"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lines)
    return path

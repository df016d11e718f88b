"""Data that is already in memory, as a source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from seqlab.sources.base import Row, Source, TextSource
from seqlab.sources.formats.text_file import cut_into_chunks


class InMemoryRows(Source):
    """Rows from a list. A row's line number is its position, from 1."""

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

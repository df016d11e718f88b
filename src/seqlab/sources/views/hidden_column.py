"""A table without one of its columns."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.sources.base import Row, Source


class HiddenColumn(Source):
    """The rows of a table without a column whose name would be taken for something else."""

    def __init__(self, whole: Source, column: str) -> None:
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [name for name in whole.columns if name != column]
        self._whole, self._column = whole, column

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            yield Row(
                {name: value for name, value in row.values.items() if name != self._column},
                row.file,
                row.line,
            )

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:without:{self._column}"

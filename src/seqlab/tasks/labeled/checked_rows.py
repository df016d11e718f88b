"""A source without the rows that a task cannot use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, Source, require_columns


class CheckedRows(Source):
    """Rows that fail a check stop the reading, or are skipped and counted: here for this part alone, beside
    those that its file lost before.
    """

    def __init__(self, whole: Source, columns: list[str]) -> None:
        self.name, self.columns, self.bad_rows = whole.name, whole.columns, BadRows(skip=whole.bad_rows.skip)
        self._whole = whole
        self._wanted = columns
        require_columns(whole, columns)

    @abstractmethod
    def check(self, row: Row) -> None:
        """Raise DataError for a row that cannot be used."""

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                self.check(row)
            except DataError as error:
                reading.reject(error)
            else:
                yield row

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:{type(self).__name__}:{':'.join(self._wanted)}"

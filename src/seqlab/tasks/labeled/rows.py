"""The usable rows of a source, with an answer for each: a class, several labels, or a number."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import STEPS, Row, Source, label_of, require_columns, require_text


class CheckedRows(Source):
    """A source whose rows are checked: bad rows stop the reading, or are skipped and counted, separately
    from those skipped when reading the file.
    """

    def __init__(self, whole: Source, columns: list[str]) -> None:
        policy = whole.bad_rows
        self.name, self.columns = whole.name, whole.columns
        self.bad_rows = BadRows(skip=policy.skip, few=policy.few)
        self._whole = whole
        self._columns = columns
        require_columns(whole, columns)

    @abstractmethod
    def check(self, row: Row) -> None:
        """Raise DataError for a row that cannot be used."""

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.limited(self._usable)

    def _usable(self, reading: Pass) -> Iterator[Row]:
        for row in self._whole.rows():
            try:
                self.check(row)
            except DataError as error:
                reading.reject(error)
            else:
                yield row

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:{type(self).__name__}:{':'.join(self._columns)}"


class LabeledRows(CheckedRows):
    """A source without rows that lack text, steps or an answer."""

    def __init__(
        self, whole: Source, *, text: str, label: str, read: Callable[[Row], Any] | None = None
    ) -> None:
        super().__init__(whole, [label] if STEPS in whole.columns else [text, label])
        self._text = text
        self.answer: Callable[[Row], Any] = read or (lambda row: label_of(row, label))
        """Returns the answer of a row."""

    def check(self, row: Row) -> None:
        self.answer(row)
        if STEPS in row.values:
            if not len(row.values[STEPS]):
                raise DataError(
                    "the sequence has no steps.",
                    where=row.where,
                    cure="Remove it, or skip such rows with data.bad_rows=skip.",
                )
        else:
            require_text(row, self._text)


def names_or_nothing(read: Callable[[Row], list[str]]) -> Callable[[Row], list[str]]:
    """Wrap `read` so that it returns no names for a bad row, which is reported elsewhere."""

    def names(row: Row) -> list[str]:
        try:
            return read(row)
        except DataError:
            return []

    return names

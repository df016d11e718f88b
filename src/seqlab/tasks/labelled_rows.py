"""The rows that a classifier can use: with something to read and a label."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import label_of, require_columns, text_of

STEPS = "steps"
"""The column that holds numeric sequences."""


class LabelledRows(Source):
    """A source without the rows that have no text, no steps or no label: they stop the reading, or are skipped and counted."""

    def __init__(self, whole: Source, *, text: str, label: str) -> None:
        self.name, self.columns, self.bad_rows = whole.name, whole.columns, whole.bad_rows
        self._whole = whole
        self._text, self._label = text, label
        require_columns(whole, [label] if STEPS in whole.columns else [text, label])

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                self._check(row)
            except DataError as error:
                reading.reject(error)
            else:
                yield row

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:labelled:{self._text}:{self._label}"

    def _check(self, row: Row) -> None:
        label_of(row, self._label)
        if STEPS in row.values:
            if not len(row.values[STEPS]):
                raise DataError("the sequence has no steps.", where=row.where, cure="Leave it out, or skip such rows with data.bad_rows=skip.")
        elif not text_of(row, self._text).strip():
            raise DataError(f"column '{self._text}' has no text.", where=row.where, cure="Mend the row, or skip such rows with data.bad_rows=skip.")

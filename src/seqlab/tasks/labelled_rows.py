"""The rows that a classifier can use: with something to read and a label."""

from __future__ import annotations

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import label_of, text_of
from seqlab.tasks.checked_rows import CheckedRows

STEPS = "steps"
"""The column that holds numeric sequences."""


class LabelledRows(CheckedRows):
    """A source without the rows that have no text, no steps or no label."""

    def __init__(self, whole: Source, *, text: str, label: str) -> None:
        super().__init__(whole, [label] if STEPS in whole.columns else [text, label])
        self._text, self._label = text, label

    def check(self, row: Row) -> None:
        label_of(row, self._label)
        if STEPS in row.values:
            if not len(row.values[STEPS]):
                raise DataError("the sequence has no steps.", where=row.where, cure="Leave it out, or skip such rows with data.bad_rows=skip.")
        elif not text_of(row, self._text).strip():
            raise DataError(f"column '{self._text}' has no text.", where=row.where, cure="Mend the row, or skip such rows with data.bad_rows=skip.")

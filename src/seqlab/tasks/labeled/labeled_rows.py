"""The rows that have something to read and an answer to learn: a class, several labels, or a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS, Row, Source, label_of, text_of
from seqlab.sources.views.joined_columns import BETWEEN
from seqlab.tasks.labeled.checked_rows import CheckedRows


class LabeledRows(CheckedRows):
    """A source without the rows that have no text, no steps or no answer."""

    def __init__(
        self, whole: Source, *, text: str, label: str, read: Callable[[Row], Any] | None = None
    ) -> None:
        super().__init__(whole, [label] if STEPS in whole.columns else [text, label])
        self._text = text
        self.answer: Callable[[Row], Any] = read or (lambda row: label_of(row, label))
        """What is to be learned about a row."""

    def check(self, row: Row) -> None:
        self.answer(row)
        if STEPS in row.values:
            if not len(row.values[STEPS]):
                raise DataError(
                    "the sequence has no steps.",
                    where=row.where,
                    cure="Leave it out, or skip such rows with data.bad_rows=skip.",
                )
        elif not text_of(row, self._text).replace(BETWEEN, " ").strip():
            raise DataError(
                f"column '{self._text}' has no text.",
                where=row.where,
                cure="Mend the row, or skip such rows with data.bad_rows=skip.",
            )

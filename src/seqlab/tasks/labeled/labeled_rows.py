"""The rows that have something to read and an answer to learn: a class, several labels, or a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import label_of, text_of
from seqlab.sources.label_lists import labels_of
from seqlab.sources.views.joined_columns import BETWEEN
from seqlab.sources.views.series import number
from seqlab.sources.word_lists import tags_of
from seqlab.tasks.labeled.checked_rows import CheckedRows

STEPS = "steps"
"""The column that holds numeric sequences."""
WHOLE = {"classification": "a label", "multi_label": "a column of labels", "regression": "a column of numbers"}
"""Tasks that answer once for a whole sequence, and what they need."""


class LabelledRows(CheckedRows):
    """A source without the rows that have no text, no steps or no answer."""

    def __init__(self, whole: Source, *, text: str, label: str, read: Callable[[Row], Any] | None = None) -> None:
        super().__init__(whole, [label] if STEPS in whole.columns else [text, label])
        self._text = text
        self.answer: Callable[[Row], Any] = read or (lambda row: label_of(row, label))
        """What is to be learned about a row."""

    def check(self, row: Row) -> None:
        self.answer(row)
        if STEPS in row.values:
            if not len(row.values[STEPS]):
                raise DataError("the sequence has no steps.", where=row.where, cure="Leave it out, or skip such rows with data.bad_rows=skip.")
        elif not text_of(row, self._text).replace(BETWEEN, " ").strip():
            raise DataError(f"column '{self._text}' has no text.", where=row.where, cure="Mend the row, or skip such rows with data.bad_rows=skip.")


def labelled_rows(source: Source, recipe: Recipe) -> LabelledRows:
    """The rows of a source that a task with one answer for each of them can use."""
    data = recipe.data
    readers: dict[str, Callable[[Row], Any]] = {
        "multi_label": lambda row: labels_of(row, data.label, separator=data.label_separator),
        "regression": lambda row: number_of(row, data.label),
    }
    return LabelledRows(source, text=data.text, label=data.label, read=readers.get(recipe.task))


def number_of(row: Row, column: str) -> float:
    """The number to learn, strictly: no gap, no NaN."""
    try:
        return number(row, column)
    except DataError as error:
        raise DataError(
            f"column '{column}' holds {str(row.values.get(column))[:40]!r}, expected a number.",
            where=row.where,
            cure="Mend the row, or skip such rows with data.bad_rows=skip; another column: data.label=NAME.",
        ) from error


def names_in(recipe: Recipe) -> Callable[[Row], list[str]] | None:
    """The names of the classes or tags that a row has, for whoever counts them; None for tasks whose answers have no names."""
    data = recipe.data
    readers: dict[str, Callable[[Row], list[str]]] = {
        "classification": lambda row: [label_of(row, data.label)],
        "multi_label": lambda row: labels_of(row, data.label, separator=data.label_separator),
        "tagging": lambda row: tags_of(row, data.label),
    }
    if recipe.task not in readers:
        return None

    def names(row: Row) -> list[str]:
        try:
            return readers[recipe.task](row)
        except DataError:
            return []  # a row that cannot be used is told where it is used

    return names

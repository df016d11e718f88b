"""Sequences of numeric vectors with a tag for each step, one sequence per row: {"frames": [[0.5, 1], [0.7,
2]], "tags": ["low", "high"]}.
"""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS, Row, Source, require_columns

CURE = (
    "Every step must be a list of numbers, all of the same length. Fix the row, or skip such"
    " rows with data.bad_rows=skip."
)


class Frames(Source):
    """The rows of a file with their validated vectors in a column named `steps`, next to the column of
    tags.
    """

    def __init__(self, whole: Source, *, column: str, tags: str) -> None:
        require_columns(whole, [column, tags])
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [STEPS, *([tags] if tags else [])]
        self._whole, self._column, self._tags = whole, column, tags

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                steps = steps_of(row, self._column)
            except DataError as error:
                reading.reject(error)
            else:
                yield Row(
                    {STEPS: steps, **({self._tags: row.values.get(self._tags)} if self._tags else {})},
                    row.file,
                    row.line,
                )

    def fingerprint(self) -> str:
        return f"frames:{self._whole.fingerprint()}:{self._column}:{self._tags}"


def steps_of(row: Row, column: str) -> list[list[float]]:
    """The vectors in a cell, one list of numbers for each step."""
    value = row.values.get(column)
    if not holds_vectors(value):
        raise DataError(
            f"column '{column}' does not contain a list of steps with the same number of values each.",
            where=row.where,
            cure=CURE,
        )
    steps: list[list[float]] = value  # type: ignore[assignment]  # just looked at
    return steps


def holds_vectors(value: object) -> bool:
    """Whether a cell is a list of equally long lists of numbers.

    >>> holds_vectors([[1, 2.5], [3, 4]]), holds_vectors([[1], [2, 3]]), holds_vectors([1, 2]), holds_vectors([])
    (True, False, False, False)
    """
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return False
    width = len(value[0])
    return width > 0 and all(
        isinstance(step, list) and len(step) == width and all(map(_is_number, step)) for step in value
    )


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)

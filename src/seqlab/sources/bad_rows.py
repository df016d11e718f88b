"""What happens to a row that cannot be used: stop at it, or skip it and keep count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from seqlab.core.errors import DataError

SHOWN = 5
MOST_PLACES = 100_000
"""Rows that are remembered by their places, in about 10 megabytes."""
COLUMN = re.compile(r", column \d+$")
Item = TypeVar("Item")


class BadRows:
    """The policy a source carries, and which rows it had to skip.

    Sources are read many times, whole and in parts: a row counts once, by its file and line, however often it
    is met. Of very many rows not every place is remembered; there the count is that of the fullest pass.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.skip = skip
        self.messages: list[str] = []
        self._places: set[int] = set()
        self._fullest = 0

    @property
    def count(self) -> int:
        return max(len(self._places), self._fullest)

    def note(self, error: DataError, *, met: int) -> None:
        """Count a row that a pass skips; `met` is how many that pass has skipped by now."""
        place = hash(COLUMN.sub("", error.where))
        self._fullest = max(self._fullest, met)
        if place in self._places or len(self._places) >= MOST_PLACES:
            return
        self._places.add(place)
        if len(self.messages) < SHOWN:
            self.messages.append(first_line(error))

    def new_pass(self) -> Pass:
        return Pass(self)

    def usable(
        self, read: Callable[[Pass], Iterator[Item]], *, most: int, where: str, otherwise: str, cure: str
    ) -> Iterator[Item]:
        """What one pass reads, at most so many (0: all); DataError says `otherwise` and the cure if it is
        nothing.
        """
        reading, num_rows = self.new_pass(), 0
        for item in islice(read(reading), most or None):
            num_rows += 1
            yield item
        reading.require_rows(num_rows, where=where, otherwise=otherwise, cure=cure)

    def sentence(self) -> str:
        """One line for the user, empty when nothing was skipped."""
        return (
            f"{self.count:,} rows could not be read and were skipped; the first: {self.messages[0]}"
            if self.count
            else ""
        )


class Pass:
    """One reading of a source from start to end."""

    def __init__(self, policy: BadRows) -> None:
        self._policy = policy
        self.skipped = 0
        self._messages: list[str] = []

    def reject(self, error: DataError) -> None:
        """Raise the error, or count it when the user said so."""
        if not self._policy.skip:
            raise error
        self.skipped += 1
        if len(self._messages) < SHOWN:
            self._messages.append(first_line(error))
        self._policy.note(error, met=self.skipped)

    def require_rows(self, num_rows: int, *, where: str, otherwise: str, cure: str) -> None:
        """The end of a pass: a source without a single usable row is a mistake."""
        if num_rows:
            return
        if self.skipped:
            lines = "\n".join(f"  - {message}" for message in self._messages)
            raise DataError(f"none of its {self.skipped:,} rows can be used:\n{lines}", where=where)
        raise DataError(otherwise, where=where, cure=cure)


def first_line(error: DataError) -> str:
    """What is wrong, without the cure."""
    return str(error).partition("\n")[0]

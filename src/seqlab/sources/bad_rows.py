"""What happens to a row that cannot be used: stop at it, or skip it and keep count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from seqlab.core.errors import DataError

SHOWN = 5
Item = TypeVar("Item")


class BadRows:
    """The policy a source carries, and what its fullest pass had to skip.

    Sources are read many times, so every pass counts for itself and only the highest count is kept.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.skip = skip
        self.count = 0
        self.messages: list[str] = []

    def new_pass(self) -> Pass:
        return Pass(self)

    def usable(self, read: Callable[[Pass], Iterator[Item]], *, most: int, where: str, otherwise: str, cure: str) -> Iterator[Item]:
        """What one pass reads, at most so many (0: all); DataError says `otherwise` and the cure if it is nothing."""
        reading, found = self.new_pass(), 0
        for item in islice(read(reading), most or None):
            found += 1
            yield item
        reading.require_rows(found, where=where, otherwise=otherwise, cure=cure)

    def sentence(self) -> str:
        """One line for the user, empty when nothing was skipped."""
        return f"{self.count:,} rows could not be read and were skipped; the first: {self.messages[0]}" if self.count else ""


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
            self._messages.append(str(error).partition("\n")[0])
        if self.skipped > self._policy.count:
            self._policy.count = self.skipped
            self._policy.messages = self._messages

    def require_rows(self, found: int, *, where: str, otherwise: str, cure: str) -> None:
        """The end of a pass: a source without a single usable row is a mistake."""
        if found:
            return
        if self.skipped:
            lines = "\n".join(f"  - {message}" for message in self._messages)
            raise DataError(f"none of its {self.skipped:,} rows can be used:\n{lines}", where=where)
        raise DataError(otherwise, where=where, cure=cure)

"""The policy for unusable rows: stop at the first, skip and count them, or skip a few and stop if there are many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from seqlab.core.errors import DataError

SHOWN = 5
MOST_PLACES = 100_000
"""Maximum number of bad rows whose positions are remembered (about 10 MB)."""
FEW = 0.05
"""Fraction of the rows of a file that may be malformed by default; if more are skipped for any reason, the user is warned."""
MOST_EMPTY = 0.5
"""Fraction that may have an empty cell: missing comments and labels yet to be assigned are not damage."""
SKIP_ALL = "data.bad_rows=skip"
COLUMN = re.compile(r", column \d+$")
Item = TypeVar("Item")


class EmptyCell(DataError):
    """A row whose text or label is missing."""


class TooManyBadRows(DataError):
    """More than a few rows are unusable; skipping all of them must be requested."""


class BadRows:
    """The policy of a source, and the rows that it skipped.

    skip: any number of rows is skipped. few: rows are skipped, and a whole pass in which more than `FEW` of the
    rows are malformed, or more than `MOST_EMPTY` have an empty cell, ends with an error; only passes that know how
    many rows they read (`usable`, `limited`) do so, others stop at the first bad row.

    Sources are read many times, fully or partially, so a row is identified by its file and line and counted
    once. With very many bad rows, not every position is remembered; the count is then that of the longest pass.
    """

    def __init__(self, *, skip: bool = False, few: bool = False) -> None:
        self.skip, self.few = skip, few
        self.messages: list[str] = []
        self.num_rows = 0
        """Number of rows in the longest pass that counts them, including skipped ones."""
        self._places: dict[int, int] = {}
        self._fullest = 0

    @classmethod
    def of(cls, policy: str) -> BadRows:
        """The policy by its name in the settings: stop, few or skip."""
        return cls(skip=policy == "skip", few=policy == "few")

    @property
    def tolerates(self) -> bool:
        """Whether a pass that counts its rows may skip one."""
        return self.skip or self.few

    @property
    def count(self) -> int:
        return max(sum(self._places.values()), self._fullest)

    def note(self, error: DataError, *, met: int, rows: int = 1) -> None:
        """Count the rows that a pass skips with one error; `met` is how many that pass has skipped by now."""
        place = hash(COLUMN.sub("", error.where))
        self._fullest = max(self._fullest, met)
        if place in self._places or len(self._places) >= MOST_PLACES:
            return
        self._places[place] = rows
        if len(self.messages) < SHOWN:
            self.messages.append(first_line(error))

    def end_pass(self, num_rows: int) -> None:
        """Remember how many rows a pass met."""
        self.num_rows = max(self.num_rows, num_rows)

    def new_pass(self) -> Pass:
        return Pass(self)

    def limited(self, read: Callable[[Pass], Iterator[Item]]) -> Iterator[Item]:
        """What one pass reads; TooManyBadRows at its end if it had to skip more than a few rows."""
        reading, num_rows = Pass(self, counts_rows=True), 0
        for item in read(reading):
            num_rows += 1
            yield item
        reading.require_few(num_rows)

    def usable(
        self, read: Callable[[Pass], Iterator[Item]], *, most: int, where: str, otherwise: str, cure: str
    ) -> Iterator[Item]:
        """The items of one pass, up to a limit (0: all); raises DataError with `otherwise` and the cure if there are
        none.
        """
        reading, num_rows = Pass(self, counts_rows=True), 0
        for item in islice(read(reading), most or None):
            num_rows += 1
            yield item
        reading.require_few(num_rows)
        reading.require_rows(num_rows, where=where, otherwise=otherwise, cure=cure)

    def sentence(self) -> str:
        """One line for the user, empty when nothing was skipped."""
        return describe_skipped(self.count, self.messages, num_rows=self.num_rows)

    @property
    def are_many(self) -> bool:
        """Whether too many rows are skipped for the scores to represent the file."""
        return are_many(self.count, self.num_rows)


class Pass:
    """One reading of a source from start to end."""

    def __init__(self, policy: BadRows, *, counts_rows: bool = False) -> None:
        self._policy = policy
        self._skips = policy.skip or (policy.few and counts_rows)
        self._malformed = _Rejected(FEW, "are malformed")
        self._empty = _Rejected(MOST_EMPTY, "have an empty cell")
        self._messages: list[str] = []

    def reject(self, error: DataError, *, rows: int = 1) -> None:
        """Raise the error, or count it where rows may be skipped. rows: how many are lost with it."""
        if not self._skips:
            raise error
        (self._empty if isinstance(error, EmptyCell) else self._malformed).add(error, rows)
        if len(self._messages) < SHOWN:
            self._messages.append(first_line(error))
        self._policy.note(error, met=self.skipped, rows=rows)

    @property
    def skipped(self) -> int:
        return self._malformed.count + self._empty.count

    def require_few(self, num_rows: int) -> None:
        """The end of a pass: unless any number may be skipped, only a few rows were."""
        self._policy.end_pass(num_rows + self.skipped)
        if self._policy.skip:
            return
        for rejected in (self._malformed, self._empty):
            rejected.require_few(num_rows + self.skipped)

    def require_rows(self, num_rows: int, *, where: str, otherwise: str, cure: str) -> None:
        """The end of a pass: a source without a single usable row is a mistake."""
        if num_rows:
            return
        if self.skipped:
            lines = "\n".join(f"  - {message}" for message in self._messages)
            raise DataError(f"none of its {self.skipped:,} rows can be used:\n{lines}", where=where)
        raise DataError(otherwise, where=where, cure=cure)


class _Rejected:
    """The rows that one pass rejects for one kind of reason."""

    def __init__(self, most: float, what: str) -> None:
        """most: their fraction of all rows that is tolerated. what: what is wrong with all of them."""
        self._most, self._what = most, what
        self._first: DataError | None = None
        self.count = 0

    def add(self, error: DataError, rows: int) -> None:
        self._first = self._first or error
        self.count += rows

    def require_few(self, total: int) -> None:
        error = self._first
        if error is None or self.count <= self._most * total:
            return
        skip = "" if SKIP_ALL in error.cure else f" Skip all such rows with {SKIP_ALL}."
        count = "" if total == 1 else f"{self.count:,} of {total:,} rows {self._what}. "
        raise TooManyBadRows(error.what, where=error.where, cure=count + error.cure + skip)


def are_many(count: int, num_rows: int) -> bool:
    """Whether more than a few of the rows of a file are skipped."""
    return count > FEW * num_rows > 0


def describe_skipped(count: int, messages: Sequence[str], *, num_rows: int = 0) -> str:
    """The one sentence about skipped rows, equal wherever it is said; empty without any. num_rows: of the file, if known.

    >>> describe_skipped(1, ["a.csv, line 9: column 'label' is empty."])
    "skipped 1 row, the first: a.csv, line 9: column 'label' is empty. To stop at the first bad row instead, set data.bad_rows=stop"
    """
    if not count:
        return ""
    what = f"skipped {count:,} row{'' if count == 1 else 's'}, the first"
    if are_many(count, num_rows):
        share = f"{count:,} of {num_rows:,} rows ({count / num_rows:.0%})"
        what = f"skipped {share}, so every score is about the other rows only. The first"
    return f"{what}: {messages[0].rstrip('.')}. To stop at the first bad row instead, set data.bad_rows=stop"


def first_line(error: DataError) -> str:
    """What is wrong, without the cure."""
    return error.message.partition("\n")[0]

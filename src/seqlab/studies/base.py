"""The interface of studies: a known claim, reproduced at small scale, with results as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from seqlab.core.registry import Registry
from seqlab.pages.html import Markup
from seqlab.pages.notebook import sentences_and_table
from seqlab.pages.report_data import LineChart

Value = str | int | float
"""One cell of a table."""


@dataclass(frozen=True)
class Finding:
    """The finding of a study: one sentence, the numbers behind it, and the charts."""

    claim: str
    """What the field says."""
    conclusion: str
    """What came out here, with its numbers."""
    rows: Sequence[dict[str, Value]]
    """The table; every row has the same columns."""
    curves: Sequence[LineChart] = ()
    figures: Sequence[Markup] = ()
    """Drawings that are not curves."""
    notes: Sequence[str] = ()
    """How it was measured, and what to be careful about."""

    def __post_init__(self) -> None:
        if len({tuple(row) for row in self.rows}) > 1:
            raise ValueError("the rows of a finding have different columns")

    @property
    def columns(self) -> list[str]:
        return list(self.rows[0]) if self.rows else []

    def select_rows(self, **values: Value) -> list[dict[str, Value]]:
        """The rows that have these values."""
        return [row for row in self.rows if all(row[name] == value for name, value in values.items())]

    def value(self, column: str, **values: Value) -> float:
        """One number from the only row that has these values."""
        (row,) = self.select_rows(**values)
        return float(row[column])

    def _repr_html_(self) -> str:
        return sentences_and_table(self.claim, [self.conclusion, *self.notes], self.rows)

    def as_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "found": self.conclusion,
            "rows": list(self.rows),
            "notes": list(self.notes),
        }


class Study(Protocol):
    """An experiment of at most about a minute on one thread; `quick` reduces it to seconds, still large
    enough to show the effect.
    """

    def __call__(self, *, seed: int, quick: bool) -> Finding: ...


studies: Registry[Study] = Registry("study", package="seqlab.studies")

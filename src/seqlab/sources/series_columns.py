"""Which columns of a table of series hold what. Light to import: a task's spec needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from seqlab.sources.base import Row
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of


@dataclass(frozen=True)
class SeriesColumns:
    """Which columns of a table hold what."""

    time: tuple[str, ...]
    """Empty if the rows are in the order of time; two for a date and a time of day; or year, month, day, hour, minute."""
    sequence: tuple[str, ...]
    targets: tuple[str, ...]
    features: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    static: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: DataSettings, columns: list[str]) -> Self:
        time, sequence, targets = (
            tuple(names_of(name, columns)) if name else () for name in (data.time, data.sequence, data.target)
        )
        return cls(time, sequence, targets, data.features, data.known, data.static)

    @property
    def numbers(self) -> tuple[str, ...]:
        return (*self.targets, *self.features, *self.known)

    def time_cell(self, row: Row) -> Any:
        """The cell with the time; a date and a time of day are joined, and so are year, month, day, hour and minute."""
        cells = [row.values.get(name) for name in self.time]
        if len(cells) == 1:
            return cells[0]
        texts = [str(cell).strip() for cell in cells]
        if self.time[0].lower() != "year":
            return " ".join(texts)
        clock = ":".join([*texts[3:], "00"][:2])
        return "-".join(texts[:3]) + (f" {clock}" if len(texts) > 3 else "")

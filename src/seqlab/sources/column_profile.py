"""What the first rows of a table say about each of its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from seqlab.sources.base import Row
from seqlab.sources.splitting import cell_text

ID_NAME = re.compile(
    r"(^|_|\b)(id|ids|uuid|guid|key|index|idx|url|path|file|filename|image|timestamp|date)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Profile:
    """One column of a sample."""

    name: str
    num_rows: int
    num_distinct: int
    num_empty: int
    num_runs: int  # how many times the value differs from the one above, plus 1
    mean_length: float
    mean_words: float
    number_share: float  # of the cells that hold something
    is_whole: bool

    @property
    def is_number(self) -> bool:
        return self.number_share == 1

    @property
    def is_mostly_number(self) -> bool:
        """Numbers with a few gaps or slips: still a column of numbers, and the slips are reported when they
        are read.
        """
        return self.number_share > 0.5

    @property
    def is_id(self) -> bool:
        """Every row has its own value, and it is a number or called like an id."""
        return self.num_distinct == self.num_rows > 1 and (self.is_whole or bool(ID_NAME.search(self.name)))

    @property
    def is_text(self) -> bool:
        """Words rather than numbers or a handful of classes."""
        return (
            not self.is_mostly_number
            and not self.is_id
            and (self.mean_words >= 2.5 or self.num_distinct > max(2, 0.5 * self.num_rows))
        )

    @property
    def is_class(self) -> bool:
        """Few values that come back, none of them a measurement.

        Half of a tiny sample may differ, a fifth of a large one, 200 at most.
        """
        most = min(200, max(self.num_rows // 5, min(self.num_rows // 2, 10)))
        return (
            2 <= self.num_distinct <= most and (self.is_whole or not self.is_number) and self.mean_words < 6
        )


def profile(rows: Sequence[Row], column: str) -> Profile:
    cells = ["" if row.values.get(column) is None else cell_text(row.values[column]) for row in rows]
    filled = [cell for cell in cells if cell.strip()]
    count = max(len(cells), 1)
    return Profile(
        name=column,
        num_rows=len(cells),
        num_distinct=len(set(cells)),
        num_empty=len(cells) - len(filled),
        num_runs=1 + sum(before != after for before, after in pairwise(cells)),
        mean_length=sum(map(len, cells)) / count,
        mean_words=sum(len(cell.split()) for cell in cells) / count,
        number_share=sum(map(_is_number, filled)) / len(filled) if filled else 0.0,
        is_whole=bool(filled) and all(cell.strip().removeprefix("-").isdecimal() for cell in filled),
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

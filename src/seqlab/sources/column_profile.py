"""Statistics of each column, from the first rows of a table."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from seqlab.sources.base import Row
from seqlab.sources.column_names import NUMBER_NAMES, is_id_name, is_named
from seqlab.sources.local_numbers import Decimal, decimal_of, is_plain, plain, unit_of, without_unit
from seqlab.sources.splitting import cell_text

MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATES = (
    r"\d{4}[-/.]\d\d?[-/.]\d\d?([T ].*)?|\d{4}[-/]\d\d?|\d\d?[./]\d\d?[./]\d{2,4}([ T].*)?"
    r"|\d\d?:\d\d(:\d\d)?( ?[AP]M)?"
    rf"|\d\d?[-/. ]+{MONTH}[-/. ]+\d{{2,4}}([ T,].*)?|{MONTH} \d\d?,? \d{{4}}([ T,].*)?"  # 05/Mar/24, Mar 5, 2024
)
DATE = re.compile(DATES, re.IGNORECASE)
"""Dates and times."""
FORMAL = re.compile(
    rf"{DATES}"
    r"|https?://\S+|www\.\S+|[^\s@]+@[^\s@]+\.\w+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # links, mails, ids
    r"|\+?[\d ()/-]{7,}"  # phone numbers
    r"|CC[- ]BY\b.*",  # attribution, as in Tatoeba exports
    re.IGNORECASE,
)

WHOLE = re.compile(r"-?\d+(\.0)?")
"""A whole number, possibly written as 4.0, as JSON and spreadsheets do."""
DIGITS = re.compile(r"\d+")

MOST_DIGITS = 30
"""Longer whole numbers are codes rather than counts, and Python does not convert very long ones."""


@dataclass(frozen=True)
class ColumnProfile:
    """One column of a sample."""

    name: str
    num_rows: int
    num_distinct: int  # of the non-empty cells
    num_empty: int
    num_runs: int  # how many times the value differs from the one above, plus 1
    mean_length: float
    mean_words: float
    number_share: float  # of the non-empty cells
    formal_share: float  # dates, times, links, mail addresses, phone numbers
    is_whole: bool
    decimal: Decimal
    unit: str  # after the numbers, such as mmol/L
    evenness: float  # 1: all values are as frequent
    cells: list[str] = field(repr=False)

    @property
    def empty_share(self) -> float:
        return self.num_empty / max(self.num_rows, 1)

    @property
    def is_number(self) -> bool:
        return self.number_share == 1

    @property
    def is_mostly_number(self) -> bool:
        """Numbers with a few missing or misspelled values: still a numeric column; the misspelled values are reported when they
        are read.
        """
        return self.number_share > 0.5

    @property
    def is_formal(self) -> bool:
        return self.formal_share > 0.8

    @property
    def is_id(self) -> bool:
        """Every row has its own value, and the column holds numbers or is named like an id, not like a price."""
        return self.num_distinct == self.num_rows - self.num_empty > 1 and (
            (self.is_whole and (self.is_consecutive or not is_named(self.name, NUMBER_NAMES)))
            or is_id_name(self.name)
            or self.is_numbered
        )

    @property
    def is_numbered(self) -> bool:
        """Values such as CMP-0001 that differ in nothing but their numbers."""
        patterns = {DIGITS.sub("#", cell.strip()) for cell in self.cells if cell.strip()}
        pattern = next(iter(patterns), "")
        return (
            len(patterns) == 1
            and pattern.count("#") == 1
            and any(map(str.isalpha, pattern))
            and not any(map(str.isspace, pattern))
        )

    @property
    def is_consecutive(self) -> bool:
        """Whole numbers without a gap between the smallest and the largest, each once."""
        if not self.is_whole or max(map(len, self.cells)) > MOST_DIGITS:
            return False
        cells = [without_unit(cell, [self.unit]).strip() for cell in self.cells if cell.strip()]
        numbers = [int(cell.removesuffix(".0")) for cell in cells]
        return bool(numbers) and max(numbers) - min(numbers) + 1 == len(numbers) == self.num_distinct

    @property
    def is_text(self) -> bool:
        """Words rather than numbers or a handful of classes."""
        return (
            not self.is_mostly_number
            and not self.is_id
            and not self.is_formal
            and (self.mean_words >= 2.5 or self.num_distinct > max(2, 0.5 * self.num_rows))
        )

    @property
    def is_class(self) -> bool:
        """Few distinct values that repeat, none of them a measurement.

        Half of a tiny sample may differ, a fifth of a large one, 200 at most.
        """
        most = min(200, max(self.num_rows // 5, min(self.num_rows // 2, 10)))
        return (
            2 <= self.num_distinct <= most
            and (self.is_whole or not self.is_mostly_number)
            and self.mean_words < 6
            and not self.is_formal
        )


def profile(rows: Sequence[Row], column: str) -> ColumnProfile:
    cells = ["" if row.values.get(column) is None else cell_text(row.values[column]) for row in rows]
    filled = [cell.strip() for cell in cells if cell.strip()]
    count = max(len(filled), 1)
    unit = unit_of(filled)
    numbers = [without_unit(cell, [unit]) for cell in filled] if unit else filled
    decimal = decimal_of(numbers)
    counts = Counter(filled)
    return ColumnProfile(
        name=column,
        num_rows=len(cells),
        num_distinct=len(counts),
        num_empty=len(cells) - len(filled),
        num_runs=1 + sum(before != after for before, after in pairwise(cells)),
        mean_length=sum(map(len, filled)) / count,
        mean_words=sum(len(cell.split()) for cell in filled) / count,
        number_share=sum(is_plain(plain(cell, decimal)) for cell in numbers) / count,
        formal_share=sum(bool(FORMAL.fullmatch(cell)) for cell in filled) / count,
        is_whole=bool(filled) and all(WHOLE.fullmatch(cell) for cell in numbers),
        decimal=decimal,
        unit=unit,
        evenness=_evenness(counts),
        cells=cells,
    )


def _evenness(counts: Counter[str]) -> float:
    """The entropy of the values, as a share of that of equally frequent ones.

    >>> _evenness(Counter(a=5, b=5)), _evenness(Counter(a=5))
    (1.0, 0.0)
    """
    if len(counts) < 2:
        return 0.0
    total = counts.total()
    entropy = -sum(count / total * math.log(count / total) for count in counts.values())
    return round(entropy / math.log(len(counts)), 6)

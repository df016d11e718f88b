"""Sample held-out data, to measure speed and to score within a time budget."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import islice

from seqlab.core.seeds import derive
from seqlab.sources.base import Row, Source, TextSource
from seqlab.sources.survey.report import PartSurvey
from seqlab.sources.views.filtered import TextPart


class SampledRows(Source):
    """Some rows of a source, kept in memory with their file and line."""

    def __init__(self, whole: Source, rows: Sequence[tuple[int, Row]], *, part: str) -> None:
        """rows: each with its number in the whole source."""
        self.name = f"{whole.name} ({part})"
        self.columns = list(whole.columns)
        self.bad_rows = whole.bad_rows
        self._whole, self._numbers, self._rows = (
            whole,
            [number for number, _ in rows],
            [row for _, row in rows],
        )

    def rows(self) -> Iterator[Row]:
        return iter(self._rows)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(repr(self._numbers).encode(), digest_size=16).hexdigest()
        return f"{self._whole.fingerprint()}:sample:{digest}"


def unit_of(source: Source) -> str:
    """Return the unit in which the source is counted."""
    return "characters" if isinstance(source, TextSource) else "rows"


def size_of(source: Source, survey: PartSurvey) -> int:
    """Return the size of the whole source in units."""
    return survey.characters if isinstance(source, TextSource) else survey.rows


def describe_part(source: Source, amount: int, size: int) -> str:
    """Describe what `draw` takes from a source of `size` units: "a random sample of 200 of 5,000 rows"."""
    how = "the first" if isinstance(source, TextSource) else "a random sample of"
    return f"{how} {amount:,} of {size:,} {unit_of(source)}"


def beginning(source: Source, amount: int) -> Source:
    """Return the first rows, or the first characters of a text, without reading any further."""
    if isinstance(source, TextSource):
        first = next(iter(source.rows()), None)
        return TextPart(
            source,
            start=0,
            stop=amount,
            first_line=first.line if first else 1,
            part=f"the first {amount:,} characters",
        )
    first_rows = list(enumerate(islice(source.rows(), amount)))
    return SampledRows(source, first_rows, part=f"the first {amount:,} rows")


def draw(source: Source, amount: int, *, seed: int, among: int | None = None) -> Source:
    """Return a random sample of rows, in their original order, or the beginning of a text.

    among: sample from this many rows at the beginning, and read no further.
    """
    if isinstance(source, TextSource):
        return beginning(source, amount)
    chooser = random.Random(derive(seed, "held-out sample"))  # noqa: S311 (not for secrets)
    reservoir: list[tuple[int, Row]] = []
    # reservoir sampling: one pass, `amount` rows in memory
    for number, row in enumerate(islice(source.rows(), among)):
        if len(reservoir) < amount:
            reservoir.append((number, row))
        elif (place := chooser.randrange(number + 1)) < amount:
            reservoir[place] = (number, row)
    rows = sorted(reservoir, key=lambda entry: entry[0])
    return SampledRows(source, rows, part=f"{len(rows):,} rows drawn at random")

"""Numeric series in wide format, one row per sequence and one column per step -> steps.

recording,t0,t1,t2,t3,activity
r1,0.2,0.4,0.1,,walk
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS, Row, Source, is_empty, require_columns
from seqlab.sources.views.series import number


class WideSeries(Source):
    """Every row as a sequence of steps with one number each, next to its label. Empty cells at the end are not steps."""

    def __init__(self, whole: Source, *, features: Sequence[str], label: str = "") -> None:
        require_columns(whole, [*features, label])
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [STEPS, *([label] if label else [])]
        self._whole, self._features, self._label = whole, list(features), label

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                steps = [[number(row, name)] for name in self._features_of(row)]
            except DataError as error:
                reading.reject(error)
            else:
                label = {self._label: row.values.get(self._label)} if self._label else {}
                yield Row({STEPS: steps, **label}, row.file, row.line)

    def fingerprint(self) -> str:
        return f"wide:{self._whole.fingerprint()}:{self._label}:{','.join(self._features)}"

    def _features_of(self, row: Row) -> Sequence[str]:
        """The columns up to the last that is filled."""
        count = len(self._features)
        while count and is_empty(row.values.get(self._features[count - 1])):
            count -= 1
        return self._features[:count]

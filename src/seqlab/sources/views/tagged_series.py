"""Numeric series in a table with one row and one tag per step -> one row per sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS, Row, Source, label_of, require_columns
from seqlab.sources.splitting import cell_text
from seqlab.sources.views.series import no_features, number


class TaggedSeries(Source):
    """Groups the rows of a table by their sequence column, as Series does, but keeps the label of every
    step.

    A row's values are {"steps": one list of numbers per step, tags: one label per step, sequence: its name}.
    """

    def __init__(self, table: Source, *, sequence: str, tags: str, features: Sequence[str] = ()) -> None:
        require_columns(table, [sequence, tags, *features])
        self.table = table
        self.name = table.name
        self.bad_rows = table.bad_rows
        self.features = list(features) or [name for name in table.columns if name not in (sequence, tags)]
        if not self.features:
            raise no_features(self.name)
        self.columns = [STEPS, tags, sequence]
        self._sequence, self._tags = sequence, tags

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        last_line: dict[str, int] = {}
        for name, group in groupby(
            self.table.rows(), key=lambda row: cell_text(row.values.get(self._sequence))
        ):
            steps = list(group)
            if name in last_line:
                what = (
                    f"sequence '{name}' continues here after rows of other sequences (its last row was line"
                    f" {last_line[name]})."
                )
                raise DataError(
                    what,
                    where=steps[0].where,
                    cure=f"Sort the file by '{self._sequence}', so that the steps of each sequence are consecutive.",
                )
            last_line[name] = steps[-1].line
            try:
                numbers = [[number(row, feature) for feature in self.features] for row in steps]
                tags = [label_of(row, self._tags).strip() for row in steps]
            except DataError as error:
                reading.reject(error)  # one bad step makes the whole sequence unusable
            else:
                yield Row(
                    {STEPS: numbers, self._tags: tags, self._sequence: name}, steps[0].file, steps[0].line
                )

    def fingerprint(self) -> str:
        return (
            "tagged"
            f" series:{self.table.fingerprint()}:{self._sequence}:{self._tags}:{','.join(self.features)}"
        )

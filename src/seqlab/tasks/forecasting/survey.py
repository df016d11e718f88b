"""The series of a part as the data survey compares them: the steps of this part alone, without the history."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.sources.base import STEPS, Row, Source
from seqlab.tasks.forecasting.series import SeriesRow


class PartSteps(Source):
    """Rows with the targets of every series."""

    def __init__(self, whole: Source) -> None:
        self.name, self.bad_rows, self.columns = whole.name, whole.bad_rows, [STEPS]
        self._whole = whole

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            series = SeriesRow(row)
            yield Row({STEPS: series.targets[series.start :]}, row.file, row.line)

    def fingerprint(self) -> str:
        return f"part_steps:{self._whole.fingerprint()}"

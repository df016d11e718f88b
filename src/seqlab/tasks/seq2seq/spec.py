"""The base spec of tasks that generate a target from a source."""

from __future__ import annotations

from seqlab.core.errors import DataError, listed, shortened
from seqlab.decoding.settings import SearchSettings
from seqlab.sources.base import PairSource, Source, TextSource
from seqlab.sources.column_roles import find_pair_of
from seqlab.sources.formats.csv_table import CsvTable
from seqlab.sources.formats.image_files import looks_like_file
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import TaskSpec

FOR_BARE_TABLES = "; for a table without a header: data.header=false data.source=1 data.target=2"


class PairSpec(TaskSpec):
    """Pairs of a column to read and a column to generate."""

    generates = True
    supports_metrics = True
    decoding = SearchSettings
    hint = ""
    """Another way to set both sides, for the error if they are ambiguous."""

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        """Find the columns that are set, else the only two, else the two that look like a pair."""
        is_table = not isinstance(source, TextSource | PairSource)
        if is_table and not (data.source or data.target) and len(source.columns) > 2:
            source_column, target_column = find_pair_of(source) or ("", "")
            data = data.model_copy(update={"source": source_column, "target": target_column})
            if source_column:
                return data.model_copy(update={"text": source_column}), [self._about_sides(data)]
        free = [name for name in source.columns if name not in (data.source, data.target, data.language)]
        open_sides = [side for side in ("source", "target") if not getattr(data, side)]
        if (
            isinstance(source, TextSource)
            or len(free) < len(open_sides)
            or (open_sides and len(free) > len(open_sides))
        ):
            has = (
                "is one text"
                if isinstance(source, TextSource)
                else f"has the columns {listed(source.columns)}"
            )
            raise DataError(
                f"{self.name} needs a source column and a target column, but this file {has}.",
                where=source.name,
                cure=self._cure(source),
            )
        columns = dict(zip(open_sides, free, strict=False))
        data = data.model_copy(update=columns)
        reasons = [self._about_sides(data)] if columns else []
        return data.model_copy(update={"text": data.source}), reasons

    @staticmethod
    def _about_sides(data: DataSettings) -> str:
        return f"from column '{data.source}' to column '{data.target}'; set data.source=NAME data.target=NAME to change it"

    def _cure(self, source: Source) -> str:
        """Say how to set the source and the target column."""
        if isinstance(source, PairSource) and len(source.columns) > 1:
            return f"Set both: data.source={source.columns[0]} data.target={source.columns[1]}"
        if isinstance(source, CsvTable) and source.starts_with_row(source.columns):
            return "Set both: data.source=NAME data.target=NAME" + FOR_BARE_TABLES
        return "Set both: data.source=NAME data.target=NAME" + self.hint

    def required_columns(self, source: Source, data: DataSettings) -> list[str]:
        return [name for name in (data.source, data.target, data.language) if name]

    def warnings(self, source: Source, data: DataSettings) -> list[str]:
        """Warn if the first pair of a table may have been mistaken for its header."""
        sides = [data.source, data.target]
        if (
            not isinstance(source, CsvTable)
            or not set(sides) <= set(source.columns)
            or not source.starts_with_row(sides)
        ):
            return []
        names = " and ".join(repr(shortened(name)) for name in sides)
        return [
            (
                f"train: the first line was read as the header, but {names} look like a pair; if there is no header, set"
                " data.header=false"
            )
        ]


def image_columns(source: Source) -> list[str]:
    """Return the columns whose first cell is an image file name."""
    first = next(iter(source.rows()), None)
    return (
        [] if first is None else [name for name in source.columns if looks_like_file(first.values.get(name))]
    )

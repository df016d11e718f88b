"""What a task needs from its data, so that opening, splitting and reading files never depend on the task
itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.errors import DataError, listed
from seqlab.sources.base import STEPS, Row, Source, TextSource, require_columns, text_of
from seqlab.sources.opened_data import OpenedData, split_seed
from seqlab.sources.settings import DataSettings, Split
from seqlab.sources.splitting import Splits, hold_out
from seqlab.sources.views.joined_columns import join_columns, names_of, parts_of
from seqlab.sources.views.series import Series
from seqlab.sources.views.wide_series import WideSeries
from seqlab.sources.views.word_texts import join_words


class HiddenColumn(Source):
    """The rows of a table without a column whose name would be misunderstood."""

    def __init__(self, whole: Source, column: str) -> None:
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [name for name in whole.columns if name != column]
        self._whole, self._column = whole, column

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            yield Row(
                {name: value for name, value in row.values.items() if name != self._column},
                row.file,
                row.line,
            )

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:without:{self._column}"


def _reasons_of(splits: Splits, shares: Mapping[str, float], how: Split) -> list[str]:
    taken = " and ".join(f"{share:.0%} for {name}" for name, share in shares.items() if share)
    order = {"content": "by content", "random": "at random", "tail": "from the end"}[how]
    reasons = [f"held out {taken}, {order}; set data.valid=FILE data.test=FILE to use other data"]
    if splits.train_only_labels:
        reasons.append(
            f"labels with too few rows to hold out appear only in train: {listed(splits.train_only_labels)}"
        )
    return reasons


class DataSpec(ABC):
    """Which columns a task reads, what one example is, and how examples are held out."""

    name: ClassVar[str]
    is_text_stream: ClassVar[bool] = False
    """Whether plain text is one stream: held out from its end, and compared by passages instead of rows."""
    label_is_number: ClassVar[bool] = False
    """Whether the label column contains numbers, whose decimal separator depends on the locale."""
    joins_text_columns: ClassVar[bool] = False
    """Whether `data.text` may name several columns."""

    def format_of(self, path: Path, data: DataSettings) -> str:
        """The format of a file for this task, if its name does not determine it; empty for the default."""
        return ""

    @abstractmethod
    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        """Fill in the columns that the settings leave empty, with reasons."""

    def required_columns(self, source: Source, data: DataSettings) -> list[str]:
        """The columns that training requires."""
        return [name for name in (data.label, *([data.text] if STEPS not in source.columns else [])) if name]

    def as_examples(self, source: Source, data: DataSettings) -> Source:
        """A source with one row per example: rows that are single steps are grouped, several text columns
        joined.
        """
        if data.sequence:
            return Series(source, sequence=data.sequence, label=data.label, features=data.features)
        if data.features and not data.text:
            return WideSeries(source, features=data.features, label=data.label)
        names = names_of(data.text, source.columns)
        if self.joins_text_columns:
            source = join_columns(join_words(source, names), data.text)
        elif len(names) > 1:
            raise DataError(
                f"the task {self.name} reads one column, not {len(names)}.",
                where="data.text",
                cure=f"For example, data.text={names[0]}",
            )
        if STEPS in (data.text, data.label):
            raise DataError(
                f"a column called '{STEPS}' cannot be the text or the label.",
                where=source.name,
                cure="Rename it in the file.",
            )
        return HiddenColumn(source, STEPS) if STEPS in source.columns else source  # only named like one

    def check_rows(self, source: Source, data: DataSettings) -> Source:
        """The source without the rows that the task cannot learn from."""
        return source

    def number_columns(self, data: DataSettings) -> list[str]:
        """The columns with numbers, whose decimal separator depends on the locale."""
        return [*data.features, *([data.label] if self.label_is_number and data.label else [])]

    def join_parts(self, opened: OpenedData) -> OpenedData:
        """Relate the splits that have files of their own to the training data."""
        return opened

    def join_further(self, source: Source, before: Callable[[], dict[str, Source]]) -> Source:
        """Relate a further file to the data of a finished run. before: opens that data, as far as it still exists."""
        return source

    def hold_out(self, opened: OpenedData, *, seed: int) -> OpenedData:
        """Hold out the validation and test splits that no file provides from the training data."""
        data, parts = opened.settings, opened.parts
        if self.is_text_stream and isinstance(parts["train"], TextSource) and data.split == "content":
            data = data.model_copy(update={"split": "tail"})  # shuffled lines are not running text
        shares = opened.shares()
        if not any(shares.values()):
            return replace(opened, settings=data)
        try:
            splits = hold_out(
                parts["train"],
                how=data.split,
                valid_share=shares["valid"],
                test_share=shares["test"],
                seed=split_seed(data, seed),
                key_columns=[data.text or data.sequence or STEPS] if data.split == "content" else [],
                labels=self.class_names(data),
            )
        except DataError:
            for _ in self.check_rows(parts["train"], data).rows():  # a bad row explains more than a count
                pass
            raise
        rest = {name: part for name, part in parts.items() if name != "train"}
        reasons = [*opened.reasons, *_reasons_of(splits, shares, data.split)]
        return replace(opened, settings=data, parts={**splits.named(), **rest}, reasons=reasons)

    def class_names(self, data: DataSettings) -> Callable[[Row], list[str]] | None:
        """The class names of a row, for stratified splits and counts; None if the targets have no
        names.
        """
        return None

    def warnings(self, source: Source, data: DataSettings) -> list[str]:
        """Warnings about the data, once the columns are known."""
        return []

    def read_inputs(self, source: Source, data: DataSettings, folder: Path) -> Iterator[Any]:
        """The inputs to predict: those of every row, without labels.

        `folder` is where the file is.
        """
        if data.sequence:
            series = Series(source, sequence=data.sequence, features=data.features)
            return (row.values[STEPS] for row in series.rows())
        if data.features and not data.text:
            return (row.values[STEPS] for row in WideSeries(source, features=data.features).rows())
        column = "text" if isinstance(source, TextSource) else data.text
        if self.joins_text_columns:
            source = join_words(source, names_of(data.text, source.columns))
        source = source if isinstance(source, TextSource) else join_columns(source, data.text)
        require_columns(source, [column])
        parts = parts_of(data.text, source.columns)
        return (
            {part: row.values[part] for part in parts} if parts else text_of(row, column)
            for row in source.rows()
        )

"""Predict any number of labels for every sequence: topics of an article, genres of a film, functions of a
protein.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from seqlab.sources.base import Row, Source
from seqlab.sources.label_lists import guess_separator, labels_of
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.flag_columns import FlagColumns
from seqlab.sources.views.joined_columns import names_of
from seqlab.tasks.labeled.rows import names_or_nothing
from seqlab.tasks.labeled.spec import NamedAnswerSpec
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_PAIRS, OF_SERIES, task_specs

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts

SAMPLE = 1000
"""Number of rows for guessing the label separator."""


@task_specs.register("multi_label")
class MultiLabelSpec(NamedAnswerSpec):
    """Predicts any number of labels for every sequence."""

    name = "multi_label"
    pipeline_tag = "text-classification"
    guess_order = 40
    answer = "labels"
    needs = "a column of labels"
    ignored = (*OF_PAIRS, *OF_IMAGE_FILES, *OF_SERIES)

    def read_answer(self, row: Row, data: DataSettings) -> list[str]:
        return labels_of(row, data.label, separator=data.label_separator)

    def class_names(self, data: DataSettings) -> Callable[[Row], list[str]]:
        return names_or_nothing(lambda row: labels_of(row, data.label, separator=data.label_separator))

    def as_examples(self, source: Source, data: DataSettings) -> Source:
        flags = names_of(data.label, source.columns)
        return super().as_examples(
            FlagColumns(source, flags, name=data.label) if len(flags) > 1 else source, data
        )

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        data, reasons = super().find_columns(source, data)
        is_spread = len(names_of(data.label, source.columns)) > 1
        if (
            is_spread
            or data.label_separator
            or not (mark := guess_separator(list(islice(source.rows(), SAMPLE)), data.label))
        ):
            return data, reasons
        reason = f"labels are separated by '{mark}'; set data.label_separator=X to change it"
        return data.model_copy(update={"label_separator": mark}), [*reasons, reason]

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.multi_label.parts import PARTS

        return PARTS

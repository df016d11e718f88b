"""What the evaluators of tasks with labels share: an item is a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.predictor import Predictor

MAX_MISTAKES = 25
"""Wrong examples in a report."""

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnySplit = TypeVar("AnySplit", bound=LabeledSplit)
AnyPredictor = TypeVar("AnyPredictor", bound=Predictor[Any, Any])


class LabeledEvaluator(Evaluator[AnyCodec, AnySplit, AnyPredictor]):
    """Finds the rows behind the items of a split."""

    def locate_items(self, split: str) -> Iterable[tuple[str, int]]:
        return ((row.file, row.line) for row in self.splits[split].rows.rows())

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        encoded = self.splits[split]
        return {
            number: (row.where, row.values[encoded.input_column])
            for number, row in encoded.rows_at(numbers).items()
        }

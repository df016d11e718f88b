"""What tasks share whose examples are sequences in a store, each with its label or labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler, ShuffledSampler
from seqlab.batches.store import Store
from seqlab.batches.stored_column import StoredColumn
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.tasks.base import Prediction, Task
from seqlab.tasks.inputs import Inputs

EVALUATION_BATCH, EVALUATION_STEPS = 256, 32_768
"""At most so many sequences, and padded steps, are looked at together."""
ASKED_AT_ONCE = 1 << 18
"""Letters, words or steps of questions that are padded and answered together: beside an endless one, others
would be mostly padding.
"""


class Saved(Protocol):
    """What can be said about a sequence: the names of classes, or the scale of a number."""

    def save(self, path: Path) -> None: ...


class LabelledSequences(Task):
    """Inputs, labels, and batches out of encoded splits."""

    inputs: Inputs
    labels: Saved

    def __init__(self, recipe: Recipe, inputs: Inputs, labels: Saved) -> None:
        self.recipe = recipe
        self.inputs = inputs
        self.labels = labels
        self.stores: dict[str, Store] = {}
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.inputs.save(folder)
        self.labels.save(folder / "labels.json")

    def steps(self, split: str) -> StoredColumn:
        """The encoded inputs of a split."""
        return self.stores[split][self.inputs.step_column.name]

    @abstractmethod
    def collate(self, split: str, rows: Indices) -> Batch:
        """Some examples of a split, side by side."""

    def loader(self, cursor: Cursor) -> Loader:
        steps, training = self.steps("train"), self.recipe.training
        size, seed = min(training.batch_size, len(steps)), training.seed
        sampler = (
            BucketSampler(steps.lengths, batch_size=size, seed=seed)
            if training.group_by_length
            else ShuffledSampler(len(steps), batch_size=size, seed=seed)
        )
        return Loader(sampler, lambda rows, _: self.collate("train", rows), cursor=cursor)

    def all_batches(self, split: str) -> Iterable[Batch]:
        """Every example once, equally long ones together."""
        sampler = LengthOrderSampler(
            self.steps(split).lengths, batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS
        )
        return one_pass(sampler, lambda rows, _: self.collate(split, rows))

    def shown_items(self, split: str, wanted: Collection[int]) -> dict[int, tuple[str, Any]]:
        if not wanted:
            return {}
        return {
            number: (row.where, row.values[self.inputs.column])
            for number, row in enumerate(self.sources[split].rows())
            if number in wanted
        }

    def item_places(self, split: str) -> Iterable[tuple[str, int]]:
        return ((row.file, row.line) for row in self.sources[split].rows())

    def describe_rows(self, batch: Batch) -> str:
        lines = sorted(self.stores["train"]["line"][batch.rows.cpu().numpy()].tolist())
        return (
            f"batch of {len(lines)} rows, lines"
            f" {', '.join(map(str, lines[:5]))}{' …' if len(lines) > 5 else ''} of"
            f" {self.sources['train'].name}"
        )

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return [steps for _, steps in self.inputs.encode(self.questions(inputs))]

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return self.inputs.pieces(steps)

    def questions(self, inputs: Sequence[Any]) -> list[Row]:
        """Inputs that do not come from a file, as rows."""
        return [self.inputs.row(value, number) for number, value in enumerate(inputs, start=1)]

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        return [
            prediction
            for part in self._parts(self.questions(inputs))
            for prediction in self.answer(model, part, top=top)
        ]

    def _parts(self, rows: list[Row]) -> Iterator[list[Row]]:
        """Rows in their order, a few at a time; one that is too long for company stands alone."""
        part: list[Row] = []
        longest = 0
        for row in rows:
            longest = max(longest, len(row.values[self.inputs.column]))
            if len(part) == EVALUATION_BATCH or (part and longest * (len(part) + 1) > ASKED_AT_ONCE):
                yield part
                part, longest = [], len(row.values[self.inputs.column])
            part.append(row)
        if part:
            yield part

    @abstractmethod
    def answer(self, model: nn.Module, rows: list[Row], *, top: int) -> Sequence[Prediction]:
        """Predictions for a few rows at once."""

"""The codec of tasks with one answer per sequence: a class, several labels, or a number."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from jaxtyping import Shaped
from numpy.typing import NDArray
from torch import Tensor

from seqlab.batches.batch import Batch, pad
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import Column, SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.pages.numbers import count_of
from seqlab.sources.base import Row, Source
from seqlab.sources.views.joined_columns import BETWEEN
from seqlab.tasks.codec import Codec
from seqlab.tasks.inputs.base import CutInputs, digest_of
from seqlab.tasks.inputs.text import TextInputs
from seqlab.tasks.labeled.rows import LabeledRows
from seqlab.tasks.labeled.spec import labeled_rows
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tokens.vocabulary import Vocabulary

LABELS = "labels.json"
"""The file with the class names, or with the scale of numbers."""
MAX_CHARACTERS = 2000
"""Maximum number of characters of an input in a report."""


class FittedLabels(Protocol):
    """What is fitted on the answers: class names, or the scale of a number."""

    def save(self, path: Path) -> None: ...


@dataclass(frozen=True)
class WholeSequenceCodec(Codec):
    """Encodes sequences and their answers."""

    inputs: CutInputs
    labels: FittedLabels

    target_column: ClassVar[Column]
    """The column of a store for the answers; the targets of a batch have the same name."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """Number of network outputs per sequence."""

    @abstractmethod
    def encode_answer(self, answer: Any, *, where: str) -> Any:
        """Encode an answer for the target column."""

    @abstractmethod
    def targets(self, store: Store, rows: Indices) -> Shaped[Tensor, "batch *target"]:
        """Return the answers of some rows as the loss needs them."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary of a text; None if steps are numbers."""
        return self.inputs.tokenizer.vocabulary if isinstance(self.inputs, TextInputs) else None

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.inputs.save(folder)
        self.labels.save(folder / LABELS)

    def encode_split(self, name: str, source: Source) -> LabeledSplit:
        rows, data = labeled_rows(source, self.recipe), self.recipe.data
        made_from = {
            **self.cache_key(),
            "inputs": digest_of(self.inputs.save),
            "labels": digest_of(lambda folder: self.labels.save(folder / "labels")),
            "column": [self.inputs.column, data.label, data.label_separator],
            "max_length": data.max_length,
            "bad_rows": data.bad_rows,
        }
        store = cached_store(made_from, lambda folder: self._write(rows, folder), source=rows)
        notes, steps = tuple(self.notes(name, store)), store[self.inputs.step_column.name]
        return LabeledSplit(name, rows, store, notes, steps=steps, input_column=self.inputs.column)

    def _write(self, rows: LabeledRows, folder: Path) -> None:
        steps_name, target_name = self.inputs.step_column.name, self.target_column.name
        line = SequenceColumn("line", np.dtype(np.int64))
        writer = StoreWriter(folder, [self.inputs.step_column, self.target_column, line])
        num_cut = 0
        for row, steps in self.inputs.encode_whole(rows.rows()):
            kept = self.inputs.cut(steps)
            num_cut += len(kept) < len(steps)
            answer = self.encode_answer(rows.answer(row), where=row.where)
            writer.append(**{steps_name: kept, target_name: answer, "line": row.line})
        writer.finish(skipped=rows.bad_rows.sentence(), cut=num_cut)

    def notes(self, name: str, store: Store) -> Iterator[str]:
        """Yield notes for the user about an encoded split."""
        if skipped := store.facts["skipped"]:
            yield skipped
        if cut := store.facts["cut"]:
            yield (
                f"{cut:,} of {len(store):,} sequences are longer than {self.inputs.max_length:,} steps and"
                " are truncated; set data.max_length=0 to keep them whole"
            )

    def collate(self, split: LabeledSplit, rows: Indices) -> Batch:
        """Build a batch from some examples of a split."""
        inputs, is_token = self.pad([split.steps[row] for row in rows])
        targets = {self.target_column.name: self.targets(split.store, rows)}
        return Batch(inputs=inputs, is_token=is_token, targets=targets, rows=torch.from_numpy(rows))

    def pad(self, sequences: Sequence[NDArray[Any]]) -> tuple[Tensor, Tensor]:
        """Pad sequences to (batch, time) or (batch, time, features); also returns which steps are real."""
        return pad(sequences, value=self.inputs.pad_value, to_length=self.recipe.training.pad_to)

    def input_rows(self, inputs: Sequence[Any]) -> list[Row]:
        """Return inputs that do not come from a file as rows."""
        return [self.inputs.row(value, number) for number, value in enumerate(inputs, start=1)]

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return [steps for _, steps in self.inputs.encode(self.input_rows(inputs))]

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return self.inputs.pieces(steps)

    def example_input(self) -> str:
        """Return an example input; with several text columns, an object with a text for each."""
        columns = self.inputs.parts if isinstance(self.inputs, TextInputs) else []
        if not columns:
            return super().example_input()
        return json.dumps(dict.fromkeys(columns, "some text"), ensure_ascii=False)

    def display_input(self, row: Row) -> str:
        """Return the input of a row for a report or a prediction."""
        value = row.values[self.inputs.column]
        if isinstance(value, str):
            return value[:MAX_CHARACTERS].replace(BETWEEN, "\n")
        return f"{count_of(len(value), 'step')} of {count_of(self.inputs.width, 'number')}"

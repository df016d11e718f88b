"""What tasks share that answer once for every whole sequence: with a class, with several labels, with a
number.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float, Shaped
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import Column, SequenceColumn
from seqlab.batches.padding import pad
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.metrics.items import Items
from seqlab.metrics.slices import ScoreSlices
from seqlab.models.classifier import build_classifier
from seqlab.models.count_statistics import Example, fit_count_statistics
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.views.joined_columns import BETWEEN
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.base import ENCODING, Prediction
from seqlab.tasks.inputs import CutInputs, TextInputs, digest_of, learn_inputs, load_inputs
from seqlab.tasks.labeled.labeled_rows import LabelledRows
from seqlab.tasks.labeled.labeled_sequences import LabelledSequences, Saved
from seqlab.tasks.labeled.row_slices import slices_of_rows
from seqlab.tasks.labeled.whole_sequence_spec import labeled_rows
from seqlab.tasks.spec import find_spec
from seqlab.tokens.labels import Labels

LONGEST_SHOWN = 2000

Outputs = Float[np.ndarray, "examples outputs"]


class WholeSequences(LabelledSequences):
    """Encodes sequences beside their answers, runs a network over a split, and asks it about new
    sequences.
    """

    inputs: CutInputs
    sources: dict[str, LabelledRows]  # type: ignore[assignment]  # every source of these tasks has been checked
    is_exclusive: ClassVar[bool] = False
    """Whether an example has exactly one of the outputs, so that they compete."""
    target_column: ClassVar[Column]
    """In which form a store keeps the answers; the targets of a batch have the same name."""

    @classmethod
    @abstractmethod
    def learn_labels(cls, recipe: Recipe, rows: LabelledRows) -> Saved:
        """What can be answered, out of the training rows."""

    @classmethod
    @abstractmethod
    def load_labels(cls, path: Path) -> Saved: ...

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """Numbers that the network gives for each sequence."""

    @abstractmethod
    def encode_answer(self, answer: Any, *, where: str) -> Any:
        """An answer as the target column keeps it."""

    @abstractmethod
    def targets(self, store: Store, rows: Indices) -> Shaped[Tensor, "batch *target"]:
        """The answers of some rows, as the loss wants them."""

    @abstractmethod
    def prediction(self, shown: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        """What the outputs for one sequence say."""

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        rows = labeled_rows(train, recipe)
        answers = labeled_rows(undrawn(train), recipe) if find_spec(recipe.task).has_class_labels else rows
        labels = cls.learn_labels(recipe, answers)
        return cls(recipe, learn_inputs(recipe, rows), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_inputs(recipe, folder), cls.load_labels(folder / "labels.json"))

    def attach(self, split: str, source: Source) -> None:
        rows, data = labeled_rows(source, self.recipe), self.recipe.data
        made_from = {
            "task": self.recipe.task,
            "encoding": ENCODING,
            "source": rows.fingerprint(),
            "inputs": digest_of(self.inputs.save),
            "labels": digest_of(lambda folder: self.labels.save(folder / "labels")),
            "column": [self.inputs.column, data.label, data.label_separator],
            "max_length": data.max_length,
            "bad_rows": data.bad_rows,
        }
        self.sources[split] = rows
        self.stores[split] = cached_store(made_from, lambda folder: self._write(rows, folder))
        self.notes += [f"{split}: {sentence}" for sentence in self._about(self.stores[split])]

    def _write(self, rows: LabelledRows, folder: Path) -> None:
        steps_name, target_name = self.inputs.step_column.name, self.target_column.name
        writer, num_cut = (
            StoreWriter(
                folder,
                [self.inputs.step_column, self.target_column, SequenceColumn("line", np.dtype(np.int64))],
            ),
            0,
        )
        for row, steps in self.inputs.encode_whole(rows.rows()):
            kept = self.inputs.cut(steps)
            num_cut += len(kept) < len(steps)
            answer = self.encode_answer(rows.answer(row), where=row.where)
            writer.append(**{steps_name: kept, target_name: answer, "line": row.line})
        writer.finish(skipped=rows.bad_rows.sentence(), cut=num_cut)

    def _about(self, store: Store) -> Iterator[str]:
        """What the user should know about an encoded split."""
        if skipped := store.facts["skipped"]:
            yield skipped
        if cut := store.facts["cut"]:
            yield (
                f"{cut:,} of {len(store):,} sequences are longer than {self.inputs.max_length:,} steps and"
                " are cut there; whole: data.max_length=0"
            )

    def example_input(self) -> str:
        """With several text columns an object with a text for each."""
        parts = self.inputs.parts if isinstance(self.inputs, TextInputs) else []
        return (
            json.dumps(dict.fromkeys(parts, "some text"), ensure_ascii=False)
            if parts
            else super().example_input()
        )

    def build_model(self) -> nn.Module:
        return build_classifier(
            self.recipe.model,
            embedding=self.inputs.embedding,
            num_classes=self.num_outputs,
            num_features=self.inputs.width,
            is_exclusive=self.is_exclusive,
            bag=self.recipe.bag,
        )

    def prime(self, model: nn.Module) -> None:
        def examples() -> Iterator[Example]:
            for batch in self.all_batches("train"):
                yield batch.inputs, batch.is_token, self.belongs(batch)

        fit_count_statistics(model, examples)

    def belongs(self, batch: Batch) -> Float[Tensor, "batch classes"] | None:
        """To which classes each sequence belongs (1) or not (0); None where answers are no classes."""
        return None

    def collate(self, split: str, rows: Indices) -> Batch:
        steps = self.steps(split)
        inputs, is_token = pad(
            [steps[row] for row in rows], value=self.inputs.pad_value, to_length=self.recipe.training.pad_to
        )
        targets = {self.target_column.name: self.targets(self.stores[split], rows)}
        return Batch(inputs=inputs, is_token=is_token, targets=targets, rows=torch.from_numpy(rows))

    @torch.inference_mode()
    def outputs(self, model: nn.Module, split: str) -> Outputs:
        """What the network says about every example of a split, in the order of the file."""
        outputs = np.empty((len(self.stores[split]), self.num_outputs), np.float32)
        device = next(model.parameters()).device
        for batch in self.all_batches(split):
            outputs[batch.rows.numpy()] = (
                model(batch.inputs.to(device), batch.is_token.to(device)).float().cpu().numpy()
            )
        return outputs

    @torch.inference_mode()
    def answer(self, model: nn.Module, rows: list[Row], *, top: int) -> Sequence[Prediction]:
        encoded = [steps for _, steps in self.inputs.encode(rows)]
        padded, is_token = pad(encoded, value=self.inputs.pad_value, to_length=self.recipe.training.pad_to)
        device = next(model.parameters()).device
        outputs = model(padded.to(device), is_token.to(device)).float().cpu().numpy()
        return [
            self.prediction(self.shown_input(row), output, top=top)
            for row, output in zip(rows, outputs, strict=True)
        ]

    def shown_input(self, row: Row) -> str:
        """What was read in a row, for people."""
        value = row.values[self.inputs.column]
        return (
            value[:LONGEST_SHOWN].replace(BETWEEN, "\n")
            if isinstance(value, str)
            else f"{len(value)} steps of {self.inputs.width} numbers"
        )

    def rows_of(self, split: str, wanted: set[int]) -> dict[int, Row]:
        """Some rows of a split as they stand in the file."""
        return (
            {number: row for number, row in enumerate(self.sources[split].rows()) if number in wanted}
            if wanted
            else {}
        )

    def bag_of_tokens(self, split: str) -> Iterator[NDArray[Any]] | None:
        """The tokens of every example, for models that know no order; None where steps are numbers."""
        return iter(self.steps(split)) if isinstance(self.inputs, TextInputs) else None

    def slices(self, split: str, items: Items, *, score: str) -> list[ScoreSlices]:
        """The score by length and by how much of a text training hardly knows."""
        vocabulary = self.inputs.tokenizer.vocabulary if isinstance(self.inputs, TextInputs) else None
        return slices_of_rows(
            items,
            score=score,
            steps=self.steps(split),
            train=self.steps("train") if "train" in self.stores else None,
            vocabulary=vocabulary,
        )


class NamedAnswers(WholeSequences):
    """Answers that have names: an output for each."""

    labels: Labels

    @classmethod
    def load_labels(cls, path: Path) -> Labels:
        return Labels.load(path)

    @property
    def num_outputs(self) -> int:
        return len(self.labels)

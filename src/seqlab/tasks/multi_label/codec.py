"""Convert sequences and sets of labels to steps and label ids, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Bool
from numpy.typing import NDArray
from torch import Tensor

from seqlab.batches.columns import StepColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.core.errors import DataError, listed
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.inputs.fit import fit_inputs, load_inputs
from seqlab.tasks.labeled.spec import labeled_rows
from seqlab.tasks.labeled.whole_sequence_codec import LABELS, WholeSequenceCodec
from seqlab.tokens.labels import Labels

SEPARATOR = ", "
"""Separates the labels of a prediction."""
NO_LABEL = "(none)"


@dataclass(frozen=True)
class MultiLabelCodec(WholeSequenceCodec):
    """Any number of label ids for every sequence."""

    labels: Labels
    target_column = StepColumn("labels", np.dtype(np.int32))  # any number of them for a sequence

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        """Fit the inputs, and the labels on all training rows, including those that a subsample leaves out."""
        labels = _fit_labels(recipe, undrawn(train))
        return cls(recipe, fit_inputs(recipe, labeled_rows(train, recipe)), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_inputs(recipe, folder), Labels.load(folder / LABELS))

    @property
    def num_outputs(self) -> int:
        return len(self.labels)

    def label_names(self) -> list[str]:
        return list(self.labels.names)

    def encode_answer(self, answer: Any, *, where: str) -> NDArray[np.int32]:
        return np.array(sorted(self.labels.encode(name, where=where) for name in answer), np.int32)

    def targets(self, store: Store, rows: Indices) -> Bool[Tensor, "batch labels"]:
        return torch.from_numpy(self.truth(store, rows))

    def truth(self, store: Store, rows: Indices | None = None) -> Bool[np.ndarray, "examples labels"]:
        """Return which labels examples have."""
        numbers = range(len(store)) if rows is None else rows.tolist()
        table = np.zeros((len(numbers), len(self.labels)), dtype=bool)
        for example, number in zip(table, numbers, strict=True):
            example[store["labels"][number]] = True
        return table

    def notes(self, name: str, store: Store) -> Iterator[str]:
        yield from super().notes(name, store)
        truth = self.truth(store)
        if unlabeled := int((~truth.any(axis=1)).sum()):
            yield f"{unlabeled:,} of {len(truth):,} rows have no label, which counts as a valid answer"
        counts = zip(self.labels.names, truth.sum(axis=0).tolist(), strict=True)
        if single := [label for label, count in counts if count == 1]:
            have = "label has" if len(single) == 1 else "labels have"
            yield f"{len(single):,} {have} one example: {listed(single)}"

    def join_labels(self, has_label: Bool[np.ndarray, " labels"]) -> str:
        """Join the names of a set of labels."""
        names = zip(self.labels.names, has_label.tolist(), strict=True)
        return SEPARATOR.join(name for name, is_there in names if is_there) or NO_LABEL


def _fit_labels(recipe: Recipe, train: Source) -> Labels:
    rows = labeled_rows(train, recipe)
    names = [name for row in rows.rows() for name in rows.answer(row)]
    if not names:
        raise DataError(
            f"no row has a label in column '{recipe.data.label}'.",
            where=rows.name,
            cure="Is it the right column? Set data.label=NAME to change it.",
        )
    return Labels.fit(names, most=recipe.data.max_labels, where=train.name)

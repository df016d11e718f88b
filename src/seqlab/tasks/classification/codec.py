"""Convert sequences and class names to steps and class ids, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.batches.columns import SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.classification.class_weights import about_counts
from seqlab.tasks.classification.spec import ClassificationSettings
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.fit import fit_inputs, load_inputs
from seqlab.tasks.labeled.spec import labeled_rows
from seqlab.tasks.labeled.whole_sequence_codec import LABELS, WholeSequenceCodec
from seqlab.tokens.labels import Labels


@dataclass(frozen=True)
class ClassificationCodec(WholeSequenceCodec):
    """One class id for every sequence."""

    labels: Labels
    target_column = SequenceColumn("label", np.dtype(np.int32))

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        """Fit the inputs, and the classes on all training rows, including those that a subsample leaves
        out.
        """
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

    def encode_answer(self, answer: Any, *, where: str) -> int:
        return self.labels.encode(answer, where=where)

    def targets(self, store: Store, rows: Indices) -> Int[Tensor, " batch"]:
        return torch.from_numpy(store["label"][rows].astype(np.int64))

    def class_counts(self, store: Store) -> Int[np.ndarray, " classes"]:
        """Return the number of examples of every class."""
        return np.bincount(store["label"].values, minlength=len(self.labels))

    def notes(self, name: str, store: Store) -> Iterator[str]:
        yield from super().notes(name, store)
        if name == "train":
            weights = self.recipe.section(ClassificationSettings).class_weights
            yield from about_counts(self.labels.names, self.class_counts(store), weights=weights)


def _fit_labels(recipe: Recipe, train: Source) -> Labels:
    rows = labeled_rows(train, recipe)
    labels = Labels.fit(
        (rows.answer(row) for row in rows.rows()), most=recipe.data.max_labels, where=train.name
    )
    if len(labels) < 2:
        raise DataError(
            f"every row has the same label '{excerpt(labels.names[0])}'.",
            where=rows.name,
            cure=(
                f"A classifier needs at least two classes; is '{recipe.data.label}' the label column?"
                " Set data.label=NAME to change it."
            ),
        )
    return labels

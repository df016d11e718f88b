"""Convert sequences and numbers to steps and standardized numbers, and back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.batches.columns import SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.inputs.fit import fit_inputs, load_inputs
from seqlab.tasks.labeled.spec import labeled_rows
from seqlab.tasks.labeled.whole_sequence_codec import LABELS, WholeSequenceCodec
from seqlab.tokens.target_scale import NumberScale


@dataclass(frozen=True)
class RegressionCodec(WholeSequenceCodec):
    """One number per sequence, standardized by the mean and standard deviation of the training split."""

    labels: NumberScale
    target_column = SequenceColumn("target", np.dtype(np.float32))

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        rows = labeled_rows(train, recipe)
        scale = NumberScale.fit((rows.answer(row) for row in rows.rows()), where=rows.name)
        return cls(recipe, fit_inputs(recipe, rows), scale)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_inputs(recipe, folder), NumberScale.load(folder / LABELS))

    @property
    def num_outputs(self) -> int:
        return 1

    def encode_answer(self, answer: Any, *, where: str) -> float:
        scaled = self.labels.encode(answer)
        if abs(scaled) > float(np.finfo(np.float32).max):
            raise DataError(
                f"{answer:g} is too far from the training data (mean {self.labels.mean:g},"
                f" standard deviation {self.labels.deviation:g}).",
                where=where,
                cure="Correct the number, or remove the row.",
            )
        return scaled

    def targets(self, store: Store, rows: Indices) -> Float[Tensor, " batch"]:
        return torch.from_numpy(store["target"].values[rows])

    def truth(self, store: Store) -> Float[np.ndarray, " examples"]:
        """Return the numbers of a store in their original units."""
        return self.labels.decode(store["target"].values)

"""Numeric sequences as steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.blocks.embedding import InputProjection
from seqlab.models.settings.images import ImageSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.tasks.inputs.base import CutInputs
from seqlab.tokens.numeric_steps import NumericSteps

NUMERIC = "steps.json"
"""The file with the scale of numeric steps."""


class NumericInputs(CutInputs):
    """Vectors of numbers, with each feature standardized to mean 0 and standard deviation 1: time series, feature
    vectors, the rows of an image.

    If the network reads the rows as an image, all pixels of a channel share one mean and standard
    deviation.
    """

    column = STEPS
    pad_value = 0

    def __init__(self, scale: NumericSteps, *, max_length: int) -> None:
        self.scale = scale
        self.max_length = max_length
        self.width = scale.num_features
        self.dtype = np.dtype(np.float32)

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> NumericInputs:
        steps = (row.values[STEPS] for row in train.rows())
        model = recipe.model
        scale = (
            NumericSteps.fit_pixels(steps, channels=model.channels)
            if isinstance(model, ImageSettings)
            else NumericSteps.fit(steps)
        )
        return cls(scale, max_length=recipe.data.max_length)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> NumericInputs:
        return cls(NumericSteps.load(folder / NUMERIC), max_length=recipe.data.max_length)

    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        for row in rows:
            yield row, self.scale.encode(row.values[STEPS], where=row.where)

    def embedding(self, hidden_size: int) -> nn.Module:
        return InputProjection(self.width, hidden_size)

    def save(self, folder: Path) -> None:
        self.scale.save(folder / NUMERIC)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return [f"step {place}" for place in range(1, len(steps) + 1)]

"""What a tagger asks of its inputs: steps that each get a tag, and a name for each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Shaped
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import pad
from seqlab.blocks.embedding import InputProjection
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.tasks.inputs.base import Inputs
from seqlab.tasks.inputs.numeric import NUMERIC
from seqlab.tokens.numeric_steps import NumericSteps


class TaggedInputs(Inputs):
    """Rows -> steps, with the place of the step that answers for each word."""

    @abstractmethod
    def encode_tagged(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any], NDArray[np.int64]]]:
        """Rows with their steps, (time,) or (time, width), and the places that answer."""

    @abstractmethod
    def names_of(self, row: Row) -> list[str]:
        """What is tagged, in words."""

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        return ((row, steps) for row, steps, _ in self.encode_tagged(rows))

    def padded(
        self, sequences: Sequence[NDArray[Any]], *, to_length: int
    ) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
        """Sequences side by side; whatever fills them up is never looked at."""
        return pad(sequences, value=self.pad_value, to_length=to_length)


class FrameInputs(TaggedInputs):
    """Each feature brought to mean 0 and deviation 1; every step answers for itself."""

    column = STEPS
    pad_value = 0
    dtype = np.dtype(np.float32)

    def __init__(self, scale: NumericSteps) -> None:
        self.scale = scale
        self.width = scale.num_features

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> FrameInputs:
        return cls(NumericSteps.fit(row.values[STEPS] for row in train.rows()))

    @classmethod
    def load(cls, folder: Path) -> FrameInputs:
        return cls(NumericSteps.load(folder / NUMERIC))

    def encode_tagged(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any], NDArray[np.int64]]]:
        for row in rows:
            steps = self.scale.encode(row.values[STEPS], where=row.where)
            yield row, steps, np.arange(len(steps))

    def names_of(self, row: Row) -> list[str]:
        return [str(place) for place in range(1, len(row.values[STEPS]) + 1)]

    def embedding(self, hidden_size: int) -> nn.Module:
        return InputProjection(self.width, hidden_size)

    def save(self, folder: Path) -> None:
        self.scale.save(folder / NUMERIC)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return [f"step {place}" for place in range(1, len(steps) + 1)]

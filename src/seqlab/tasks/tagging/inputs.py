"""The inputs of a tagger: steps that get a tag, each with a name."""

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
    """Converts rows to steps, with the position of the step that predicts the tag of each word."""

    @abstractmethod
    def encode_tagged(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any], NDArray[np.int64]]]:
        """Yield rows with their steps, (time,) or (time, width), and the positions that predict tags."""

    @abstractmethod
    def names_of(self, row: Row) -> list[str]:
        """Return a readable name for each tagged step."""

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        return ((row, steps) for row, steps, _ in self.encode_tagged(rows))

    def padded(
        self, sequences: Sequence[NDArray[Any]], *, to_length: int
    ) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
        """Pad sequences to a batch; padding is always masked."""
        return pad(sequences, value=self.pad_value, to_length=to_length)


class FrameInputs(TaggedInputs):
    """Numeric steps, with each feature standardized to mean 0 and standard deviation 1; every step has a
    tag.
    """

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

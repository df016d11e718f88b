"""What a tagger asks of its inputs: steps that each get a tag, and a name for each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Shaped
from numpy.typing import NDArray
from torch import Tensor

from seqlab.batches.batch import pad
from seqlab.sources.base import Row
from seqlab.tasks.inputs.base import Inputs


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

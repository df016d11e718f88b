"""What every kind of input offers. New kinds are new classes in files of their own."""

from __future__ import annotations

import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.columns import StepColumn
from seqlab.sources.base import Row


class Inputs(ABC):
    """Values of a row -> an array of steps, and the layer through which such steps enter a network."""

    column: str
    dtype: np.dtype[Any]
    width: int
    """Numbers per step; 0 when a step is an id."""
    pad_value: int

    @property
    def step_column(self) -> StepColumn:
        """How a store keeps the steps: `tokens`, or `features` where they are measured numbers."""
        return StepColumn("features" if self.dtype.kind == "f" else "tokens", self.dtype, self.width)

    @abstractmethod
    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]: ...

    @abstractmethod
    def embedding(self, hidden_size: int) -> nn.Module: ...

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @abstractmethod
    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """The text of each step."""

    def is_unknown(self, steps: NDArray[Any]) -> bool:
        """Whether no step is in the vocabulary."""
        return False

    def row(self, value: Any, number: int) -> Row:
        """A value that does not come from a file, as a row."""
        return Row({self.column: value}, "input", number)


class CutInputs(Inputs):
    """Inputs that are truncated where they are longer than a network is to read."""

    max_length: int
    """The length to which sequences are truncated; 0 keeps them whole."""

    @abstractmethod
    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Every row with all of its steps."""

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Every row with as many steps as a network reads."""
        return ((row, self.cut(steps)) for row, steps in self.encode_whole(rows))

    def cut(self, steps: NDArray[Any]) -> NDArray[Any]:
        return steps[: self.max_length] if self.max_length else steps


def digest_of(save: Callable[[Path], None]) -> str:
    """A hash of all files that something saves: what it encodes depends on nothing else."""
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()

"""The base classes of inputs. Each kind of input is a class in its own file."""

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
    """Converts the values of a row to an array of steps, and builds the input layer for such steps."""

    column: str
    dtype: np.dtype[Any]
    width: int
    """Numbers per step; 0 if a step is an id."""
    pad_value: int

    @property
    def step_column(self) -> StepColumn:
        """The column of a store for the steps: `tokens`, or `features` for numbers."""
        return StepColumn("features" if self.dtype.kind == "f" else "tokens", self.dtype, self.width)

    @abstractmethod
    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]: ...

    @abstractmethod
    def embedding(self, hidden_size: int) -> nn.Module: ...

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @abstractmethod
    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """Return the text of each step."""

    def is_unknown(self, steps: NDArray[Any]) -> bool:
        """Whether no step is in the vocabulary."""
        return False

    def row(self, value: Any, number: int) -> Row:
        """Return a value that does not come from a file as a row."""
        return Row({self.column: value}, "input", number)


class CutInputs(Inputs):
    """Inputs that are truncated to a maximum length."""

    max_length: int
    """The length to which sequences are truncated; 0 for no limit."""

    @abstractmethod
    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Yield every row with all of its steps."""

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Yield every row with its steps, truncated."""
        return ((row, self.cut(steps)) for row, steps in self.encode_whole(rows))

    def cut(self, steps: NDArray[Any]) -> NDArray[Any]:
        return steps[: self.max_length] if self.max_length else steps


def digest_of(save: Callable[[Path], None]) -> str:
    """Return a hash of all files that `save` writes, which determine how inputs are encoded."""
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()

"""One column of an open store, read on demand."""

from __future__ import annotations

import mmap
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.columns import Column, SequenceColumn, StepColumn
from seqlab.batches.positioned_read import open_for_reading, read_into

Rows = int | slice | NDArray[np.integer] | NDArray[np.bool_]
"""One sequence, a slice, several by number, or a mask."""


class StoredColumn(ABC):
    """The steps of all sequences, concatenated. A column with a value per sequence has one step for each.

    Steps are read with `pread`, not through a memory map, whose pages would count as resident memory. They
    stay readable after the file is removed.
    """

    def __init__(self, folder: Path, column: Column, *, num_steps: int) -> None:
        self.column = column
        self.num_steps = num_steps
        self._shape, self._dtype, self._step_size = column.shape, column.dtype, column.step_size
        self._handle = open_for_reading(folder / column.files[0])
        weakref.finalize(self, os.close, self._handle)

    @abstractmethod
    def __len__(self) -> int:
        """The number of sequences."""

    @abstractmethod
    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        """The values of one sequence; of several only where each has one value."""

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[row] for row in range(len(self)))

    @property
    @abstractmethod
    def offsets(self) -> NDArray[np.int64]:
        """The first step of each sequence, followed by the total number of steps."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of steps of each sequence."""
        return np.diff(self.offsets)

    def window(self, start: int, end: int) -> NDArray[Any]:
        """A copy of the steps `start` to `end` of the concatenated sequences."""
        values = np.empty((max(0, min(end, self.num_steps) - start), *self._shape), self._dtype)
        self._read_into(values, start)
        return values

    def _read_into(self, values: NDArray[Any], start: int) -> None:
        place, left = start * self._step_size, values.nbytes
        if not left or read_into(self._handle, values.data, place) == left:
            return
        view, done = values.data.cast("B"), 0
        while done < left:  # one call reads at most two gigabytes
            count = read_into(self._handle, view[done:], place + done)
            assert count, "a store became shorter while it was open"
            done += count

    @property
    def values(self) -> NDArray[Any]:
        """All steps as a read-only memory map."""
        if self.num_steps == 0:  # an empty file cannot be mapped
            return self.window(0, 0)
        content = mmap.mmap(self._handle, 0, access=mmap.ACCESS_READ)
        return np.frombuffer(content, self._dtype).reshape(-1, *self._shape)


class StoredSteps(StoredColumn):
    """A column with a value per step: `column[row]` is (time,) or (time, width)."""

    def __init__(self, folder: Path, column: StepColumn) -> None:
        self._offsets = np.fromfile(folder / column.files[1], np.int64)
        super().__init__(folder, column, num_steps=int(self._offsets[-1]))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        row = index(rows)  # type: ignore[arg-type]  # sequences differ in length: one at a time
        if row < 0:
            row = range(len(self))[row]
        return self.window(int(self._offsets[row]), int(self._offsets[row + 1]))

    @property
    def offsets(self) -> NDArray[np.int64]:
        return self._offsets


class StoredValues(StoredColumn):
    """A column with a value per sequence: `column[row]` is a number or vector, `column[rows]` an array.

    Single numbers are kept in memory, like the offsets of steps; vectors are not.
    """

    def __init__(self, folder: Path, column: SequenceColumn, *, num_sequences: int) -> None:
        super().__init__(folder, column, num_steps=num_sequences)
        self._numbers = None if column.width else self._load()

    def _load(self) -> NDArray[Any]:
        numbers = self.window(0, self.num_steps)
        numbers.flags.writeable = False
        return numbers

    def __len__(self) -> int:
        return self.num_steps

    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        if self._numbers is not None:
            values: NDArray[Any] = self._numbers[rows]
            return values
        if isinstance(rows, slice):
            return self._gather(range(len(self))[rows])
        if isinstance(rows, np.ndarray) and rows.ndim:
            numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
            return self._gather([range(len(self))[row] for row in numbers.tolist()])
        return self._gather([range(len(self))[index(rows)]])[0]

    def _gather(self, rows: Sequence[int]) -> NDArray[Any]:
        values = np.empty((len(rows), *self._shape), self._dtype)
        for place, row in enumerate(rows):
            self._read_into(values[place], row)
        return values

    @property
    def offsets(self) -> NDArray[np.int64]:
        return np.arange(len(self) + 1)

    @property
    def values(self) -> NDArray[Any]:
        """All values: single numbers as a read-only array, vectors as a read-only memory map."""
        return super().values if self._numbers is None else self._numbers

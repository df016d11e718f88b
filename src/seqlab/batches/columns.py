"""The schema of a store: columns with a value per step, and columns with a value per sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

STRUCT_CODES = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}
"""The supported types, with their format characters in the module `struct`."""


@dataclass(frozen=True)
class Column(ABC):
    """A name and a type. width: size of the vector per step or per sequence; 0 for single numbers."""

    name: str
    dtype: np.dtype[Any]
    width: int = 0

    num_axes: ClassVar[int]
    """Axes of one sequence's values before the axis of the vector: 1 (time) for steps, else 0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if not self.name.isidentifier():
            raise ValueError(
                f"{self.name!r} is not a valid column name: use letters, digits and underscores."
            )
        if self.dtype.name not in STRUCT_CODES or not self.dtype.isnative:
            supported = ", ".join(STRUCT_CODES)
            raise ValueError(
                f"column '{self.name}': {self.dtype} is not one of the supported types: {supported}."
            )
        if self.width < 0:
            raise ValueError(f"column '{self.name}': the width {self.width} is negative.")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of one step: () or (width,)."""
        return (self.width,) if self.width else ()

    @cached_property
    def _ndim(self) -> int:
        return self.num_axes + len(self.shape)

    @cached_property
    def kinds(self) -> str:
        """The numpy kinds that the column accepts."""
        return "f" if self.dtype.kind == "f" else "iu"

    @cached_property
    def _limits(self) -> tuple[int, int]:
        limits = np.iinfo(self.dtype)
        return limits.min, limits.max

    @property
    def step_size(self) -> int:
        """Bytes of one step."""
        return self.dtype.itemsize * max(1, self.width)

    @property
    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """The names of the column's files; the first one holds the values."""

    def as_json(self) -> dict[str, Any]:
        return {"kind": type(self).__name__, "name": self.name, "dtype": self.dtype.name, "width": self.width}

    def as_array(self, values: Any) -> NDArray[Any]:
        """Values as a contiguous array of any type; raises ValueError if the shape is wrong.

        >>> StepColumn("features", np.dtype(np.float32), 3).as_array([[0.5, 1.5]])
        Traceback (most recent call last):
        ValueError: column 'features': values must have the shape (time, 3), not (1, 2).
        """
        array = np.asarray(values, order="C")
        if array.ndim != self._ndim or (self.width and array.shape[-1] != self.width):
            axes = ", ".join(["time"] * self.num_axes + [str(size) for size in self.shape])
            raise ValueError(f"column '{self.name}': values must have the shape ({axes}), not {array.shape}.")
        return array

    def check_kind(self, array: NDArray[Any]) -> None:
        """Raise ValueError for floats in an integer column or integers in a float column.

        Empty arrays may have any type.
        """
        if array.size and array.dtype.kind not in self.kinds:
            raise ValueError(f"column '{self.name}': {array.dtype} cannot be stored as {self.dtype}.")

    def convert(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array in the column's type; raises ValueError for another kind of number or an overflow.

        >>> StepColumn("tokens", np.dtype(np.uint8)).convert(np.array([3, 300]))
        Traceback (most recent call last):
        ValueError: column 'tokens': 300 does not fit into uint8.
        """
        if array.dtype == self.dtype:
            return array
        self.check_kind(array)
        if self.dtype.kind != "f" and array.size and not self._fits(array):
            least, most = int(array.min()), int(array.max())
            misfit = least if least < self._limits[0] else most
            raise ValueError(f"column '{self.name}': {misfit} does not fit into {self.dtype}.")
        return array.astype(self.dtype)

    def _fits(self, array: NDArray[Any]) -> bool:
        """Whether all integers are within the range of the column's type."""
        low, high = self._limits
        if low == 0 and array.dtype.kind == "i" and array.itemsize > self.dtype.itemsize:
            # One pass instead of two: viewed as unsigned, negative numbers exceed the range as well.
            array = array.view(array.dtype.str.replace("i", "u"))
        return bool(array.max() <= high and (array.dtype.kind == "u" or array.min() >= low))


@dataclass(frozen=True)
class StepColumn(Column):
    """A value or vector per step: token ids, tags, audio frames.

    The number of steps may differ between sequences and between the columns of one sequence, and may be 0. So
    this is also the column for any number of values per sequence, such as the labels of an article.
    """

    num_axes = 1

    @property
    def files(self) -> tuple[str, ...]:
        return f"{self.name}.bin", f"{self.name}.offsets.bin"


@dataclass(frozen=True)
class SequenceColumn(Column):
    """A value or vector per sequence: a class, a number, the next 24 values of a series."""

    num_axes = 0

    @property
    def files(self) -> tuple[str, ...]:
        return (f"{self.name}.bin",)


KINDS = {kind.__name__: kind for kind in (StepColumn, SequenceColumn)}


def column_from_json(plain: dict[str, Any]) -> Column:
    """
    >>> column_from_json(SequenceColumn("target", np.dtype(np.float32), 24).as_json())
    SequenceColumn(name='target', dtype=dtype('float32'), width=24)
    """
    return KINDS[plain["kind"]](plain["name"], np.dtype(plain["dtype"]), plain["width"])


def by_name(columns: Iterable[Column]) -> dict[str, Column]:
    """Columns by name; raises ValueError if there are none or two have the same name."""
    columns_by_name: dict[str, Column] = {}
    for column in columns:
        if column.name in columns_by_name:
            raise ValueError(f"two columns have the name '{column.name}'.")
        columns_by_name[column.name] = column
    if not columns_by_name:
        raise ValueError("a store needs at least one column.")
    return columns_by_name


def smallest_dtype(num_ids: int) -> np.dtype[Any]:
    """The smallest type that holds ids below `num_ids`."""
    return np.dtype(np.uint8 if num_ids <= 1 << 8 else np.uint16 if num_ids <= 1 << 16 else np.int32)

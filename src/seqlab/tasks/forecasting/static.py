"""Columns that are constant within a series: standardized numbers, and categories as one-hot vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float

MOST_CATEGORIES = 32
"""Categories of a column that get a feature of their own, most frequent first; the others are all zeros."""


@dataclass(frozen=True)
class NumberColumn:
    """x' = (x - mean) / deviation; a missing number is the mean."""

    mean: float
    deviation: float

    @property
    def width(self) -> int:
        return 1

    @classmethod
    def fit(cls, values: Sequence[Any]) -> Self:
        known = np.array([value for value in values if _is_number(value)], np.float64)
        return cls(float(known.mean()), float(known.std()) or 1.0)

    def encode(self, value: Any) -> list[float]:
        return [(float(value) - self.mean) / self.deviation if _is_number(value) else 0.0]

    def to_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "deviation": self.deviation}


@dataclass(frozen=True)
class CategoryColumn:
    """One feature for each frequent category."""

    categories: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.categories)

    @classmethod
    def fit(cls, values: Sequence[Any]) -> Self:
        counts = Counter(str(value) for value in values)
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        return cls(tuple(ranked[:MOST_CATEGORIES]))

    def encode(self, value: Any) -> list[float]:
        return [float(name == str(value)) for name in self.categories]

    def to_json(self) -> dict[str, Any]:
        return {"categories": list(self.categories)}


@dataclass(frozen=True)
class StaticColumns:
    """The static columns by name.

    >>> columns = StaticColumns.fit([{"city": "Delhi", "height": 216.0}, {"city": "Oslo", "height": 23.0}])
    >>> columns.encode({"city": "Oslo", "height": 119.5}).tolist()
    [0.0, 1.0, 0.0]
    """

    columns: Mapping[str, NumberColumn | CategoryColumn]

    @classmethod
    def fit(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        values: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                values.setdefault(name, []).append(value)
        return cls({name: _fit_column(found) for name, found in values.items()})

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns.values())

    def encode(self, row: Mapping[str, Any]) -> Float[np.ndarray, " features"]:
        features = [
            feature for name, column in self.columns.items() for feature in column.encode(row.get(name))
        ]
        return np.array(features, np.float64)

    def to_json(self) -> dict[str, Any]:
        return {name: column.to_json() for name, column in self.columns.items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        return cls({name: _column_from_json(column) for name, column in plain.items()})


def _fit_column(values: Sequence[Any]) -> NumberColumn | CategoryColumn:
    are_numbers = any(map(_is_number, values)) and not any(isinstance(value, str) for value in values)
    return NumberColumn.fit(values) if are_numbers else CategoryColumn.fit(values)


def _column_from_json(plain: Mapping[str, Any]) -> NumberColumn | CategoryColumn:
    if "categories" in plain:
        return CategoryColumn(tuple(plain["categories"]))
    return NumberColumn(plain["mean"], plain["deviation"])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))

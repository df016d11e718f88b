"""The scale of each series, in double precision: a mean and a standard deviation for every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float

Columns = Float[np.ndarray, " columns"]
Values = Float[np.ndarray, "steps columns"]


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """x' = (x - mean) / deviation"""

    mean: Columns
    deviation: Columns

    @classmethod
    def fit(cls, values: Values) -> Self:
        """Learn from the known values; a column that is constant or empty gets deviation 1.

        >>> scale = ColumnScale.fit(np.array([[1.0, 7.0], [np.nan, 7.0], [3.0, 7.0]]))
        >>> scale.mean.tolist(), scale.deviation.tolist()
        ([2.0, 7.0], [1.0, 1.0])
        """
        is_known = np.isfinite(values)
        counts = np.maximum(is_known.sum(axis=0), 1)
        mean = np.where(is_known, values, 0.0).sum(axis=0) / counts
        gaps = np.where(is_known, values - mean, 0.0)
        deviation = np.sqrt((gaps**2).sum(axis=0) / counts)
        # A column is constant if all that varies is the last bit of its numbers.
        is_constant = deviation <= 1e-13 * np.maximum(np.abs(mean), 1e-300)
        return cls(mean, np.where(is_constant, 1.0, deviation))

    def encode(self, values: Values) -> Values:
        return (values - self.mean) / self.deviation

    def to_json(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        return cls(np.array(plain["mean"], np.float64), np.array(plain["deviation"], np.float64))


@dataclass(frozen=True, eq=False)
class SeriesScale:
    """The scales of the columns of one series."""

    targets: ColumnScale
    features: ColumnScale
    known: ColumnScale
    naive_error: Columns
    """The mean change of each target within a season, by which MASE divides; NaN if it is constant."""

    def to_json(self) -> dict[str, Any]:
        scales = {name: getattr(self, name).to_json() for name in ("targets", "features", "known")}
        errors = [float(error) if np.isfinite(error) else None for error in self.naive_error]
        return {**scales, "naive_error": errors}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        targets, features, known = (
            ColumnScale.from_json(plain[name]) for name in ("targets", "features", "known")
        )
        return cls(targets, features, known, np.array(plain["naive_error"], np.float64))

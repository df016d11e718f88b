"""One series: as a row of a source, and as the columns that the network reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from seqlab.sources.base import Row, Source
from seqlab.sources.views.time_series import TimeSeriesSource
from seqlab.tasks.forecasting.calendar import Times

Values = Float[np.ndarray, "steps columns"]


@dataclass(frozen=True, eq=False)
class Series:
    """The targets of a series in original units; steps before `start` are history."""

    name: str
    times: Times
    targets: Float[np.ndarray, "steps targets"]
    start: int = 0


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns with numbers."""

    targets: tuple[str, ...]
    features: tuple[str, ...]
    known: tuple[str, ...]

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the columns of a source of time series."""
        series = time_series(source)
        return cls(series.target_names, series.feature_names, series.known_names)


@dataclass(frozen=True, eq=False)
class SeriesRow:
    """A row of a source of time series."""

    row: Row

    @property
    def name(self) -> str:
        return str(self.row.values["series"])

    @property
    def start(self) -> int:
        return int(self.row.values.get("start", 0))

    @cached_property
    def times(self) -> Times:
        return np.asarray(self.row.values["times"])

    @cached_property
    def targets(self) -> Values:
        return np.asarray(self.row.values["targets"], np.float64)

    @cached_property
    def features(self) -> Values:
        return self._columns("features")

    @cached_property
    def known(self) -> Values:
        return self._columns("known")

    @property
    def static(self) -> Mapping[str, Any]:
        """The static columns by name."""
        values: Mapping[str, Any] = self.row.values.get("static", {})
        return values

    def _columns(self, name: str) -> Values:
        values = self.row.values.get(name)
        return np.zeros((len(self.targets), 0)) if values is None else np.asarray(values, np.float64)


def time_series(source: Source) -> TimeSeriesSource:
    """Return a source whose rows are time series."""
    assert isinstance(source, TimeSeriesSource), f"{source.name} is not a source of time series"
    return source


def fill_forward(values: Values) -> Values:
    """Replace missing values by the last known one; before the first one they stay missing.

    >>> fill_forward(np.array([[np.nan], [2.0], [np.nan], [3.0]])).ravel().tolist()
    [nan, 2.0, 2.0, 3.0]
    """
    steps = np.where(np.isfinite(values), np.arange(len(values))[:, None], 0)
    last = np.maximum.accumulate(steps, axis=0)
    filled: Values = np.take_along_axis(values, last, axis=0)
    return filled

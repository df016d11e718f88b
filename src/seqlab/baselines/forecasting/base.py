"""Many series in one array, and the interface of methods that forecast them without a network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.core.errors import UsageError

Forecasts = Float[np.ndarray, "origins horizon"]


@dataclass(frozen=True)
class Histories:
    """Series of different lengths, oldest value first; `values[step, i]` is NaN from the end of series i on."""

    values: Float[np.ndarray, "steps series"]
    lengths: Int[np.ndarray, " series"]

    @classmethod
    def of(cls, series: Sequence[Float[np.ndarray, " steps"]]) -> Histories:
        """Collect series, with missing values filled in.

        >>> Histories.of([np.array([1.0, np.nan, 3.0]), np.array([5.0])]).values[:, 0].tolist()
        [1.0, 2.0, 3.0]
        """
        lengths = np.array([len(values) for values in series], dtype=np.int64)
        values = np.full((int(lengths.max(initial=0)), len(lengths)), np.nan)
        for column, one in enumerate(series):
            values[: len(one), column] = fill_gaps(one)
        return cls(values, lengths)

    @property
    def is_known(self) -> Bool[np.ndarray, "steps series"]:
        """Where a series has a value."""
        known: Bool[np.ndarray, "steps series"] = np.arange(len(self.values))[:, None] < self.lengths
        return known

    def series(self, number: int) -> Float[np.ndarray, " steps"]:
        return self.values[: self.lengths[number], number]

    def with_values(self, values: Float[np.ndarray, "steps series"]) -> Histories:
        """Return series of the same lengths with other values."""
        return Histories(values, self.lengths)


@dataclass(frozen=True)
class Origins:
    """Where forecasts start: only the first `steps[i]` values of series `series[i]` are known."""

    series: Int[np.ndarray, " origins"]
    steps: Int[np.ndarray, " origins"]

    def __len__(self) -> int:
        return len(self.steps)

    @classmethod
    def at_ends(cls, histories: Histories) -> Origins:
        """Return the end of every series."""
        return cls(np.arange(len(histories.lengths)), histories.lengths)


class FittedMethod(ABC):
    """A method with parameters for every series."""

    @abstractmethod
    def forecast(self, histories: Histories, origins: Origins, *, horizon: int) -> Forecasts:
        """Forecast from each origin, using only the values before it.

        `histories` are the series that the method was fitted on, in the same order; they may be longer now.
        """


class ForecastMethod(ABC):
    """A way to forecast that is fitted in closed form or by a short search."""

    name: ClassVar[str]

    @abstractmethod
    def fit(self, train: Histories, *, season: int, horizon: int) -> FittedMethod:
        """Fit the parameters of every series. season: steps in a season; 1 if there is none."""


def fill_gaps(values: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " steps"]:
    """Interpolate missing values; before the first and after the last value, repeat it.

    >>> fill_gaps(np.array([np.nan, 1.0, np.nan, 2.0, np.nan])).tolist()
    [1.0, 1.0, 1.5, 2.0, 2.0]
    """
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        raise UsageError("a series has no values.", cure="Remove it.")
    filled: Float[np.ndarray, " steps"] = np.interp(np.arange(len(values)), known, values[known])
    return filled

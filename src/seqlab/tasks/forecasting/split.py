"""An encoded part of the data: its series, and the windows that are learned or scored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from seqlab.batches.batch import Batch
from seqlab.tasks.forecasting.series import Series
from seqlab.tasks.forecasting.store_columns import (
    DEVIATION,
    INPUTS,
    MEAN,
    NAIVE_ERROR,
    START,
    TARGETS,
    TIMES,
    TRUTH,
)
from seqlab.tasks.split import MAX_LINES, Split


@dataclass(frozen=True, kw_only=True)
class ForecastSplit(Split):
    """Series, and the windows over them."""

    windows: Int[np.ndarray, "examples 2"]
    """The number of the series and the origin of every example; the origin is the first step to predict."""
    horizon: int
    """The steps that follow every origin."""

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.windows)

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The series in original units."""
        truth, times, starts = self.store[TRUTH], self.store[TIMES], self.store[START][:]
        kind = "datetime64[s]" if self.store.facts["has_dates"] else np.int64
        return tuple(
            Series(name, times[number].astype(kind), truth[number], int(starts[number]))
            for number, name in enumerate(self.store.facts["names"])
        )

    @cached_property
    def offsets(self) -> Int[np.ndarray, " series"]:
        """The first step of each series among all steps."""
        return self.store[TARGETS].offsets

    @cached_property
    def targets(self) -> Float[np.ndarray, "steps targets"]:
        """The standardized targets of all series, one after the other; NaN where a value is missing."""
        column = self.store[TARGETS]
        return column.window(0, column.num_steps)

    @cached_property
    def inputs(self) -> Float[np.ndarray, "steps columns"]:
        """The other columns: features, then what is known in advance."""
        if INPUTS not in {column.name for column in self.store.columns}:
            return np.zeros((len(self.targets), 0), np.float32)
        column = self.store[INPUTS]
        return column.window(0, column.num_steps)

    def decode(
        self, values: Float[np.ndarray, "windows horizon targets levels"]
    ) -> Float[np.ndarray, "windows horizon targets levels"]:
        """Convert standardized values of every window to original units."""
        numbers = self.windows[:, 0]
        mean, deviation = (self.store[name][:][numbers][:, None, :, None] for name in (MEAN, DEVIATION))
        decoded: Float[np.ndarray, "windows horizon targets levels"] = mean + deviation * values
        return decoded

    @cached_property
    def truth(self) -> Float[np.ndarray, "windows horizon targets"]:
        """The values to forecast from every origin, in original units; NaN where one is missing."""
        column = self.store[TRUTH]
        steps = self.offsets[self.windows[:, 0]] + self.windows[:, 1]
        return column.window(0, column.num_steps)[steps[:, None] + np.arange(self.horizon)]

    @property
    def deviation(self) -> Float[np.ndarray, "windows targets"]:
        """The standard deviation of the series of each window in training."""
        values: Float[np.ndarray, "windows targets"] = self.store[DEVIATION][:][self.windows[:, 0]]
        return values

    @property
    def naive_error(self) -> Float[np.ndarray, "windows targets"]:
        """The mean change of the series of each window within a season in training; NaN for a constant one."""
        values: Float[np.ndarray, "windows targets"] = self.store[NAIVE_ERROR][:][self.windows[:, 0]]
        return values

    def describe_rows(self, batch: Batch, *, noun: str = "windows") -> str:
        windows = self.windows[np.sort(batch.rows.cpu().numpy())]
        names = [self.store.facts["names"][number] for number, _ in windows[:MAX_LINES]]
        first = ", ".join(
            f"{f'{name}, ' if name else ''}step {origin}"
            for name, (_, origin) in zip(names, windows, strict=False)
        )
        return f"batch of {len(windows)} {noun}, {first}{' …' if len(windows) > MAX_LINES else ''} of {self.rows.name}"

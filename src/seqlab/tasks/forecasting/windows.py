"""Windows: the origins of a series from which a forecast is learned or scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Int

from seqlab.batches.store import Store
from seqlab.pages.numbers import count_of
from seqlab.tasks.forecasting.settings import ForecastingSettings
from seqlab.tasks.forecasting.store_columns import START, TARGETS

Origins = Int[np.ndarray, " origins"]


def usable_origins(
    is_known: Bool[np.ndarray, "steps targets"], origins: Origins, *, context: int, horizon: int
) -> Bool[np.ndarray, " origins"]:
    """Whether at least one target is known before an origin, within the context, and one after it.

    >>> is_known = np.array([True, False, False, True])[:, None]
    >>> usable_origins(is_known, np.array([1, 2, 3]), context=1, horizon=1).tolist()
    [False, False, False]
    >>> usable_origins(is_known, np.array([1, 2, 3]), context=2, horizon=2).tolist()
    [False, True, False]
    """
    counts = np.concatenate([[0], np.cumsum(is_known.any(axis=1))])
    before = counts[origins] - counts[np.maximum(origins - context, 0)]
    after = counts[np.minimum(origins + horizon, len(is_known))] - counts[origins]
    usable: Bool[np.ndarray, " origins"] = (before > 0) & (after > 0)
    return usable


def training_origins(num_steps: int, *, start: int, context: int, horizon: int) -> Origins:
    """Return every origin with a full horizon, and with a full context if the series is long enough for one.

    A series that is too short for both is read from its middle on: what is missing before it is padding.
    """
    last = num_steps - horizon
    return np.arange(max(start, 1, min(context, last // 2)), last + 1)


def scored_origins(num_steps: int, *, start: int, horizon: int, most: int) -> Origins:
    """Return every origin from `start` on with a full horizon, or `most` of them at even distances.

    >>> scored_origins(9, start=2, horizon=3, most=3).tolist()
    [2, 4, 6]
    """
    origins = np.arange(max(start, 1), num_steps - horizon + 1)
    if len(origins) <= most:
        return origins
    return origins[np.unique(np.linspace(0, len(origins) - 1, most).round().astype(np.int64))]


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The windows of a store, and what was left out."""

    places: Int[np.ndarray, "windows 2"]
    """The number of the series and the origin of each window."""
    horizon: int
    num_missing: int
    """Target values that are missing."""
    num_values: int
    num_unknown: int
    """Origins without a known target before or after them."""
    num_short: int
    """Series without any origin."""
    num_series: int

    @classmethod
    def find(cls, store: Store, *, settings: ForecastingSettings, horizon: int, is_train: bool) -> Self:
        """Find all windows for training, or evenly spaced ones for scores."""
        targets, starts = store[TARGETS], store[START][:]
        is_known = np.isfinite(targets.window(0, targets.num_steps))
        most = max(1, settings.origins // max(1, len(starts)))
        places, num_unknown, num_short = [np.zeros((0, 2), np.int64)], 0, 0
        for number, (first, length) in enumerate(zip(targets.offsets[:-1], targets.lengths, strict=True)):
            origins = (
                training_origins(length, start=starts[number], context=settings.context, horizon=horizon)
                if is_train
                else scored_origins(length, start=starts[number], horizon=horizon, most=most)
            )
            known = is_known[first : first + length]
            usable = usable_origins(known, origins, context=settings.context, horizon=horizon)
            kept = origins[usable]
            places.append(np.stack([np.full(len(kept), number), kept], axis=1))
            num_short += not len(origins)
            num_unknown += len(origins) - len(kept)
        return cls(
            places=np.concatenate(places),
            horizon=horizon,
            num_missing=int((~is_known).sum()),
            num_values=is_known.size,
            num_unknown=num_unknown,
            num_short=num_short,
            num_series=len(starts),
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes for the user about what is left out."""
        sentences = (
            (
                self.num_missing,
                f"{self.num_missing:,} of {self.num_values:,} target values missing, neither learned nor scored",
            ),
            (
                self.num_unknown,
                f"{count_of(self.num_unknown, 'window')} without a known target before or after its origin left out",
            ),
            (
                self.num_short,
                f"{self.num_short:,} of {self.num_series:,} series left out, too short for {count_of(self.horizon, 'step')}",
            ),
        )
        return tuple(sentence for count, sentence in sentences if count)

"""The loss by learning rate, and the rates that it suggests. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

HALF_WIDTH = 3
"""Updates on each side over which the loss is averaged; a window around each update has no lag."""
SAFETY = 10.0
"""The suggestion is the rate of the lowest loss divided by this."""
NOISE = 3.0
"""The loss has fallen when its fall is this many times the usual distance of a loss from its mean."""


@dataclass(frozen=True)
class RateCurve:
    """Learning rates in increasing order, and the loss of the batch before each update."""

    rates: Sequence[float]
    losses: Sequence[float]

    @cached_property
    def smoothed(self) -> list[float]:
        """The mean of each loss and its neighbors; fewer of them at both ends."""
        losses = np.asarray(self.losses, dtype=np.float64)
        places = range(len(losses))
        widths = [min(HALF_WIDTH, place, len(losses) - 1 - place) for place in places]
        return [
            float(losses[place - width : place + width + 1].mean())
            for place, width in zip(places, widths, strict=True)
        ]

    @property
    def lowest(self) -> int:
        """The update with the lowest smoothed loss, from the first whole window on: higher rates only raise it."""
        return HALF_WIDTH + int(np.argmin(self.smoothed[HALF_WIDTH:])) if len(self.losses) > HALF_WIDTH else 0

    @property
    def limit(self) -> float | None:
        """The highest useful rate, after which the loss rises; None where it never falls, or never rises."""
        return self.rates[self.lowest] if self.falls and self.rises else None

    @property
    def suggestion(self) -> float | None:
        """A tenth of the limit."""
        return None if self.limit is None else self.limit / SAFETY

    @property
    def steepest(self) -> float | None:
        """The rate at which the loss falls fastest by the logarithm of the rate."""
        if not self.falls:
            return None
        slopes = np.gradient(self.smoothed, np.log(self.rates))[HALF_WIDTH : self.lowest + 1]
        return self.rates[HALF_WIDTH + int(np.argmin(slopes))]

    @property
    def falls(self) -> bool:
        """Whether the loss falls by more than its noise."""
        if len(self.losses) <= 2 * HALF_WIDTH:
            return False
        return self.smoothed[HALF_WIDTH] - self.smoothed[self.lowest] > NOISE * self._noise

    @property
    def rises(self) -> bool:
        """Whether the loss rises again by more than its noise, or the test ended because of it."""
        return max(self.smoothed[self.lowest :]) - self.smoothed[self.lowest] > NOISE * self._noise

    @property
    def _noise(self) -> float:
        """The usual distance of a loss from the mean around it, before the loss explodes."""
        end = self.lowest + 1
        distances = np.abs(np.asarray(self.losses[:end]) - np.asarray(self.smoothed[:end]))
        return float(np.median(distances))

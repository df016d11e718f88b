"""Conformalized quantile regression: bands are widened or narrowed until they hold on the validation split what they promise.

    E_i = max(q_low(x_i) - y_i, y_i - q_high(x_i)) / s_i      how far y_i lies outside its band, in units of its scale
    Q   = the ⌈(n+1)(1-α)⌉-th smallest of E_1 … E_n
    band = [q_low(x) - Q s, q_high(x) + Q s]

For exchangeable errors, the band holds a new value with probability 1-α or slightly more. Q is computed for every band, step of
the horizon and target. With fewer than FEWEST errors at a step, the errors of the steps around it count too: as many on both
sides as are needed. The widened bands of a step stay nested around the median.

Paper: Romano, Patterson and Candès 2019, "Conformalized Quantile Regression", arXiv:1905.03222, algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec

FEWEST = 300
"""Errors behind a correction: with them, the coverage of an 80% band has a standard deviation of 2.3 points."""

Truth = Float[np.ndarray, "windows horizon targets"]
Quantiles = Float[np.ndarray, "windows horizon targets levels"]
Scales = Float[np.ndarray, "windows targets"]


@dataclass(frozen=True)
class ForecastCalibration(Calibration):
    """The correction of every symmetric band, widest first; empty before training ends."""

    levels: tuple[float, ...] = ()
    corrections: tuple[tuple[tuple[float, ...], ...], ...] = ()
    """(bands, horizon, targets), in units of the scale"""

    @classmethod
    def fit(cls, truth: Truth, quantiles: Quantiles, levels: Sequence[float], scales: Scales) -> Self:
        """Choose the corrections on validation forecasts. scales: the unit of each window and target."""
        corrections = []
        for low, high in bands(levels):
            outside = np.maximum(quantiles[..., low] - truth, truth - quantiles[..., high])
            errors = outside / scales[:, None]
            target_coverage = levels[high] - levels[low]
            corrections.append(
                tuple(
                    tuple(
                        _correction(errors[..., target], step, target_coverage)
                        for target in range(truth.shape[2])
                    )
                    for step in range(truth.shape[1])
                )
            )
        return cls(tuple(levels), tuple(corrections))

    def apply(self, quantiles: Quantiles, scales: Scales) -> Quantiles:
        """Return the corrected quantiles of other windows; a series without a scale keeps its own."""
        corrected = quantiles.copy()
        unit = np.where(np.isfinite(scales), scales, 0.0)[:, None]
        for (low, high), by_step in zip(bands(self.levels), self.corrections, strict=True):
            shift = np.array(by_step) * unit  # (windows, horizon, targets)
            corrected[..., low] -= shift
            corrected[..., high] += shift
        return _nested(corrected)

    def to_json(self) -> dict[str, Any]:
        return {"levels": list(self.levels), "corrections": self.corrections} if self.levels else {}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        if "corrections" not in choices:
            return cls()
        try:
            levels = np.array(choices["levels"], dtype=np.float64)
            corrections = np.array(choices["corrections"], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("levels and corrections must be arrays of numbers") from error
        if levels.ndim != 1 or corrections.ndim != 3 or len(corrections) != len(bands(levels.tolist())):
            raise ValueError(
                "corrections must have one table (horizon, targets) for each symmetric pair of levels"
            )
        if not (np.isfinite(levels).all() and np.isfinite(corrections).all()):
            raise ValueError("levels and corrections must be finite")
        return cls(
            tuple(levels.tolist()),
            tuple(tuple(tuple(row) for row in table) for table in corrections.tolist()),
        )


def bands(levels: Sequence[float]) -> list[tuple[int, int]]:
    """Return the places of the levels α/2 and 1 - α/2, widest band first.

    >>> bands([0.025, 0.1, 0.3, 0.5, 0.9, 0.975])
    [(0, 5), (1, 4)]
    """
    return [
        (low, high)
        for low, alpha in enumerate(levels)
        for high, other in enumerate(levels)
        if alpha < 0.5 and math.isclose(alpha + other, 1.0, abs_tol=1e-9)
    ]


def _correction(errors: Float[np.ndarray, "windows horizon"], step: int, coverage: float) -> float:
    """Return the error of rank ⌈(n+1) coverage⌉, the largest one if there are too few; 0 without any."""
    known = np.sort(_around(errors, step))
    if not len(known):
        return 0.0
    rank = math.ceil((len(known) + 1) * coverage - 1e-9)
    return float(known[min(rank, len(known)) - 1])


def _around(errors: Float[np.ndarray, "windows horizon"], step: int) -> Float[np.ndarray, " errors"]:
    """Return the known errors of a step, with those of as many neighbors as are needed for FEWEST."""
    horizon = errors.shape[1]
    for reach in range(horizon):
        part = errors[:, max(0, step - reach) : step + reach + 1]
        known: Float[np.ndarray, " errors"] = part[np.isfinite(part)]
        if len(known) >= FEWEST:
            break
    return known


def _nested(quantiles: Quantiles) -> Quantiles:
    """Move levels outward where a correction has brought them past a level nearer to the median."""
    middle = quantiles.shape[-1] // 2
    nested = quantiles.copy()
    nested[..., middle::-1] = np.minimum.accumulate(quantiles[..., middle::-1], axis=-1)
    nested[..., middle:] = np.maximum.accumulate(quantiles[..., middle:], axis=-1)
    return nested

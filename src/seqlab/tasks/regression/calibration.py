"""Choose the width of prediction intervals on the validation split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from seqlab.tasks.calibration import Calibration, number_between
from seqlab.tasks.codec import Codec

COVERAGE = 0.9
"""Share of true values within a prediction interval."""


@dataclass(frozen=True)
class RegressionCalibration(Calibration):
    """Half the width of a prediction interval, in units of the number; None before training ends."""

    half_width: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {} if self.half_width is None else {"half_width": self.half_width}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        if "half_width" not in choices:
            return cls()
        largest = float(np.finfo(np.float64).max)
        return cls(number_between(choices, "half_width", 0.0, largest, otherwise=0.0))

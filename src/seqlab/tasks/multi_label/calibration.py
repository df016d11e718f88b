"""What a model for several labels chooses on the validation split: a threshold for every label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from seqlab.tasks.calibration import Calibration, number_between
from seqlab.tasks.codec import Codec

DEFAULT_THRESHOLD = 0.5
"""For a label without a better one."""


@dataclass(frozen=True)
class MultiLabelCalibration(Calibration):
    """The probability from which a label is predicted, by its name."""

    thresholds: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"thresholds": dict(self.thresholds)}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        thresholds, names = choices.get("thresholds", {}), codec.label_names()
        if not isinstance(thresholds, dict) or not thresholds.keys() <= set(names):
            raise ValueError("thresholds are not those of the labels")
        return cls(
            {name: number_between(thresholds, name, 0.0, 1.0, otherwise=DEFAULT_THRESHOLD) for name in names}
        )

    def as_array(self, names: Sequence[str]) -> Float[np.ndarray, " labels"]:
        """The thresholds of some labels, in their order."""
        return np.array([self.thresholds.get(name, DEFAULT_THRESHOLD) for name in names])

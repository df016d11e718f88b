"""Choose a threshold for every label on the validation split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from seqlab.tasks.calibration import Calibration, number_between
from seqlab.tasks.codec import Codec

DEFAULT_THRESHOLD = 0.5
"""Used for a label without a better one."""


@dataclass(frozen=True)
class MultiLabelCalibration(Calibration):
    """The probability threshold for predicting each label, by name."""

    thresholds: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"thresholds": dict(self.thresholds)}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        thresholds, names = choices.get("thresholds", {}), codec.label_names()
        if not isinstance(thresholds, dict) or not thresholds.keys() <= set(names):
            raise ValueError("the thresholds do not match the labels")
        return cls(
            {name: number_between(thresholds, name, 0.0, 1.0, otherwise=DEFAULT_THRESHOLD) for name in names}
        )

    def as_array(self, names: Sequence[str]) -> Float[np.ndarray, " labels"]:
        """Return the thresholds of labels in the given order."""
        return np.array([self.thresholds.get(name, DEFAULT_THRESHOLD) for name in names])

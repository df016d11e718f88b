"""What a classifier chooses on the validation split: a temperature and, for two classes, a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.labeled.calibration_values import number_between


@dataclass(frozen=True)
class ClassificationCalibration(Calibration):
    """Paper: Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv:1706.04599, section 4.2."""

    temperature: float = 1.0
    """Logits are divided by it, so that probabilities agree with the accuracy."""
    threshold: float | None = None
    """The probability of the second of two classes from which predicting it has the best F1."""

    def to_json(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "threshold": self.threshold}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        temperature = number_between(choices, "temperature", 1e-3, 1e3, otherwise=1.0)
        if choices.get("threshold") is None:
            return cls(temperature)
        return cls(temperature, number_between(choices, "threshold", 0.0, 1.0, otherwise=0.5))

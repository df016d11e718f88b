"""Standardizes regression targets to mean 0 and standard deviation 1, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import DataError
from seqlab.core.files import write_whole
from seqlab.tokens.untrusted_json import damaged, read_json_object

LARGEST_FILE = 10_000

Numbers = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class NumberScale:
    """z = (number - mean) / standard deviation, both of the training split.

    >>> scale = NumberScale.fit([2.0, 4.0])
    >>> scale.encode(4.0), scale.decode(np.array([-1.0])).tolist()
    (1.0, [2.0])
    """

    mean: float
    deviation: float

    @classmethod
    def fit(cls, numbers: Iterable[float], *, where: str = "") -> NumberScale:
        """Mean and standard deviation in one streaming pass (Welford 1962)."""
        count, mean, squares = 0, 0.0, 0.0
        for value in numbers:
            count += 1
            before = value - mean
            mean += before / count
            squares += before * (value - mean)
        deviation = math.sqrt(squares / count) if count else 0.0
        if not deviation > 0 or not math.isfinite(deviation):
            summary = (
                "there are no numbers to train on."
                if not count
                else f"every row has the same number ({mean:g}), or the numbers are too large to compute with."
            )
            raise DataError(
                summary, where=where, cure="Is this the right column? To change it, set data.label=NAME"
            )
        return cls(mean, deviation)

    def encode(self, number: float) -> float:
        return (number - self.mean) / self.deviation

    def decode(self, scaled: Float[np.ndarray, " examples"]) -> Numbers:
        numbers: Numbers = scaled.astype(np.float64) * self.deviation + self.mean
        return numbers

    def save(self, path: Path) -> None:
        write_whole(path, json.dumps({"mean": self.mean, "deviation": self.deviation}))

    @classmethod
    def load(cls, path: Path) -> NumberScale:
        content = read_json_object(path, largest=LARGEST_FILE)
        mean, deviation = content.get("mean"), content.get("deviation")
        if not (_is_finite(mean) and _is_finite(deviation) and deviation > 0):
            raise damaged(path, "does not contain a mean and a positive standard deviation")
        return cls(float(mean), float(deviation))


def _is_finite(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and math.isfinite(value)

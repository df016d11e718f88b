"""What a task chooses on the validation split after training, such as a temperature or thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from seqlab.tasks.codec import Codec


@dataclass(frozen=True)
class Calibration:
    """No choices, as for most tasks; other tasks have a subclass with theirs."""

    def to_json(self) -> dict[str, Any]:
        """Return the choices for choices.json; empty if there are none."""
        return {}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        """Read the choices of a finished run. Raises ValueError for an invalid one."""
        return cls()


def number_between(
    choices: Mapping[str, Any], name: str, low: float, high: float, *, otherwise: float
) -> float:
    """Return a number within its bounds; raises ValueError for anything else."""
    value = choices.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a number from {low:g} to {high:g}")
    return float(value)

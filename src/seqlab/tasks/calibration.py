"""What a task chooses on the validation split after training, such as a temperature or thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from seqlab.tasks.codec import Codec


@dataclass(frozen=True)
class Calibration:
    """Nothing: most tasks choose nothing. Others have a subclass with their choices."""

    def to_json(self) -> dict[str, Any]:
        """The choices as choices.json keeps them; empty where there are none."""
        return {}

    @classmethod
    def from_json(cls, choices: Mapping[str, Any], codec: Codec) -> Self:
        """The choices of a run that was trained before. One that cannot be right raises ValueError."""
        return cls()

"""Choices that were made on validation data and come back from a file: checked before they are used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def number_between(
    choices: Mapping[str, Any], name: str, low: float, high: float, *, otherwise: float
) -> float:
    """A number within its bounds; ValueError for anything else."""
    value = choices.get(name, otherwise)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not low <= value <= high
    ):
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a number from {low:g} to {high:g}")
    return float(value)

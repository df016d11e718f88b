"""The text of results.json as plain data, checked; no torch here, so that `seqlab list` starts at once."""

from __future__ import annotations

import json
import math
from typing import Any

PARTS = {"splits": dict, "training": dict, "provenance": dict, "warnings": list}


def parse_results(text: str) -> dict[str, Any]:
    """The content of results.json; raises ValueError if a part has another type or a number is not finite."""
    raw = json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    if not isinstance(raw, dict) or not all(isinstance(raw.get(name), kind) for name, kind in PARTS.items()):
        raise ValueError("a part is missing or has the wrong type")
    seconds = raw["training"].get("seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValueError("seconds is not a number")
    if not all(isinstance(warning, str) for warning in raw["warnings"]):
        raise ValueError("a warning is not text")
    return raw


def _finite(digits: str) -> float:
    """Also for NaN and Infinity, which Python's parser accepts.

    >>> _finite("1e999")
    Traceback (most recent call last):
    ValueError: 1e999 is not a finite number
    """
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:20]} is not a finite number")
    return number


def _whole(digits: str) -> int:
    _finite(digits)  # more digits than a float has would fail wherever one is computed
    return int(digits)

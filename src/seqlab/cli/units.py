"""One format for numbers and units in the terminal."""

from __future__ import annotations

import math


def value_text(value: float) -> str:
    """A loss, a score or a share: four decimals, fewer for large numbers.

    >>> value_text(0.43216), value_text(38.214), value_text(12345.6)
    ('0.4322', '38.21', '12,346')
    """
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"


def rate_text(value: float, unit: str) -> str:
    """
    >>> rate_text(3.21, "steps"), rate_text(1234.5, "tokens"), rate_text(2_345_678, "tokens")
    ('3.2 steps/s', '1,234 tokens/s', '2.3M tokens/s')
    """
    if value >= 1e6:
        return f"{value / 1e6:.1f}M {unit}/s"
    return f"{value:,.0f} {unit}/s" if value >= 100 else f"{value:.1f} {unit}/s"


def memory_text(size: int) -> str:
    """
    >>> memory_text(412_300_000), memory_text(2_345_000_000)
    ('412 MB', '2.3 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"

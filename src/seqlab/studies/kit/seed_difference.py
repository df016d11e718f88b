"""A difference between two ways of doing something, measured once per seed: its interval and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from seqlab.metrics.seeds import SeedSummary, summarize_seeds

Direction = Literal["above", "below", "unclear"]


def seed_differences(values: Sequence[float], references: Sequence[float]) -> SeedSummary:
    """value - reference for each seed, with the 95% CI of their mean."""
    return summarize_seeds([value - reference for value, reference in zip(values, references, strict=True)])


def direction(difference: SeedSummary) -> Direction:
    """Where the interval lies; one seed has none, so it shows nothing.

    >>> direction(summarize_seeds([0.1, 0.2, 0.3])), direction(summarize_seeds([-0.1, 0.2, 0.3]))
    ('unclear', 'unclear')
    >>> direction(summarize_seeds([0.1, 0.11, 0.12])), direction(summarize_seeds([-2, -2.1])), direction(summarize_seeds([1]))
    ('above', 'below', 'unclear')
    """
    if difference.low is None or difference.high is None:
        return "unclear"
    return "above" if difference.low > 0 else "below" if difference.high < 0 else "unclear"


def format_difference(difference: SeedSummary) -> str:
    """
    >>> format_difference(summarize_seeds([0.1, 0.11, 0.12])), format_difference(summarize_seeds([-0.25]))
    ('+0.110 (95% CI +0.085 to +0.135)', '−0.250')
    """
    interval = "" if difference.low is None else f" (95% CI {difference.low:+.3f} to {difference.high:+.3f})"
    return f"{difference.mean:+.3f}{interval}".replace("-", "−")

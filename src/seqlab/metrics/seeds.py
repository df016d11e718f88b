"""The mean of a score over seeds, with a confidence interval from Student's t-distribution.

    mean ± t · s / √n      s: standard deviation with n - 1 below;  t: the quantile of Student's distribution with n - 1 degrees of freedom

The interval of one run covers other test data; this one covers other seeds.

Paper: Student 1908, "The Probable Error of a Mean", Biometrika 6(1); the closed form of the distribution for
whole degrees of freedom: Abramowitz & Stegun 1964, 26.7.3 and 26.7.4.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True)
class SeedSummary:
    """One score of several runs that differ only in their seeds; a single run has no deviation and no
    interval.
    """

    values: list[float]
    mean: float
    deviation: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | list[float] | None]:
        return asdict(self)


def summarize_seeds(values: Sequence[float], *, level: float = CONFIDENCE_LEVEL) -> SeedSummary:
    """
    >>> summary = summarize_seeds([0.80, 0.82, 0.84])
    >>> round(summary.mean, 3), round(summary.deviation, 3), round(summary.low, 3), round(summary.high, 3)
    (0.82, 0.02, 0.77, 0.87)
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return SeedSummary(list(values), mean, None, None, None)
    deviation = statistics.stdev(values)
    margin = student_t_quantile((1 + level) / 2, len(values) - 1) * deviation / math.sqrt(len(values))
    return SeedSummary(list(values), mean, deviation, mean - margin, mean + margin)


def student_t_quantile(probability: float, degrees_of_freedom: int) -> float:
    """The quantile of Student's t-distribution for a probability of at least one half.

    >>> round(student_t_quantile(0.975, 1), 3), round(student_t_quantile(0.975, 4), 3), round(student_t_quantile(0.975, 30), 3)
    (12.706, 2.776, 2.042)
    """
    low, high = 0.0, 1.0
    while _central_probability(high, degrees_of_freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if _central_probability(middle, degrees_of_freedom) < 2 * probability - 1
            else (low, middle)
        )
    return (low + high) / 2


def _central_probability(t: float, degrees_of_freedom: int) -> float:
    """P(-t < T < t), as a finite sum over the angle θ = arctan(t / √freedom)."""
    angle = math.atan(t / math.sqrt(degrees_of_freedom))
    cosine = math.cos(angle)
    term, total = (cosine, 0.0) if degrees_of_freedom % 2 else (1.0, 0.0)
    for step in range(
        3 if degrees_of_freedom % 2 else 2, degrees_of_freedom + 1, 2
    ):  # powers of the cosine, each with its product of odd and even numbers
        total += term
        term *= cosine * cosine * (step - 1) / step
    if degrees_of_freedom % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total

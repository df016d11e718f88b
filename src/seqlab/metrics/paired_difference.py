"""Better or worse: one rule and one wording for every comparison, with a baseline or between models.

clearly better, clearly worse     p ≤ 0.05 in the paired bootstrap: the 95% CI of the difference excludes 0; with
                                  several comparisons p is corrected for their number (Holm), the CI is not
better or worse, but not clearly  p > 0.05: other test data may reverse it
too few                           fewer than MIN_COMPARED_ITEMS items: no verdict
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

SIGNIFICANCE_LEVEL = 0.05
MIN_COMPARED_ITEMS = 20
"""Minimum number of test items for a verdict.

The 95% CI of an accuracy of 0.9 contains the true value in 64% of all cases with 10 items, in 86% with 20 and in
93% with 50 (exact binomial sums): with fewer than 20 items "clearly" would mean little. It is also wide: 0.8 ± 0.18
with 20 items.
"""

Verdict = Literal["clearly better", "better", "equal", "worse", "clearly worse", "too few", "incomparable"]


@dataclass(frozen=True)
class PairedDifference:
    """The difference between two models in one score; positive means better, regardless of the direction of
    the score.

    With too few items there is no interval, and p is 1. holm_p: p, corrected for the number of comparisons.
    """

    value: float
    low: float | None
    high: float | None
    p: float
    holm_p: float
    resamples: int
    num_items: int
    unit: str = "rows"
    """What an item is, in the plural."""

    @property
    def verdict(self) -> Verdict:
        if math.isnan(self.value):
            return "incomparable"
        if self.num_items < MIN_COMPARED_ITEMS:
            return "too few"
        if self.value == 0:
            return "equal"
        if self.value > 0:
            return "clearly better" if self.holm_p <= SIGNIFICANCE_LEVEL else "better"
        return "clearly worse" if self.holm_p <= SIGNIFICANCE_LEVEL else "worse"

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant."""
        return self.verdict.startswith("clearly")

    def describe(self, name: str, other: str, *, decimals: int = 4) -> str:
        """
        >>> PairedDifference(0.012, 0.004, 0.02, 0.003, 0.003, 9999, 500).describe("B", "A", decimals=3)
        'B is clearly better than A: by 0.012 (95% CI 0.004 to 0.020, p = 0.003)'
        >>> PairedDifference(-0.012, -0.03, 0.002, 0.09, 0.09, 9999, 500).describe("B", "A", decimals=3)
        'B is worse than A, but not clearly: by 0.012 (95% CI −0.002 to 0.030, p = 0.090)'
        >>> PairedDifference(0.012, None, None, 1.0, 1.0, 0, 8).describe("B", "A")
        '8 rows are too few to compare B with A'
        >>> PairedDifference(0.0, 0.0, 0.0, 1.0, 1.0, 9999, 500).describe("B", "A", decimals=3)
        'B is equal to A (95% CI 0.000 to 0.000, p = 1.000)'
        """
        if self.verdict == "too few":
            return f"{too_few(self.num_items, self.unit)} to compare {name} with {other}"
        if self.verdict == "incomparable" or self.low is None or self.high is None:
            return f"{name} and {other} cannot be compared: the score is not finite"
        low, high = (-self.high, -self.low) if self.value < 0 else (self.low, self.high)
        size = "" if self.value == 0 else f": by {abs(self.value):.{decimals}f}"
        interval = (
            f"95% CI {_signed(low, decimals)} to {_signed(high, decimals)}, p = {_format_p(self.holm_p)}"
        )
        return f"{name} is {phrase(self.verdict, other)}{size} ({interval})"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def phrase(verdict: Verdict, other: str) -> str:
    """A verdict as a phrase.

    >>> phrase("clearly worse", "naive Bayes"), phrase("worse", "naive Bayes"), phrase("equal", "naive Bayes")
    ('clearly worse than naive Bayes', 'worse than naive Bayes, but not clearly', 'equal to naive Bayes')
    """
    if verdict == "equal":
        return f"equal to {other}"
    return f"{verdict} than {other}" + ("" if verdict.startswith("clearly") else ", but not clearly")


def too_few(num_items: int, unit: str) -> str:
    """
    >>> too_few(8, "rows"), too_few(1, "rows")
    ('8 rows are too few', '1 row is too few')
    """
    return f"{num_items} {unit} are too few" if num_items != 1 else f"1 {unit.removesuffix('s')} is too few"


def _signed(value: float, decimals: int) -> str:
    """
    >>> _signed(-0.25, 1), _signed(-0.00001, 2)
    ('−0.2', '0.00')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")  # + 0.0: no minus before a zero


def _format_p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.1g}"

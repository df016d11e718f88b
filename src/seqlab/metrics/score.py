"""A score with its confidence interval, its baseline, and its method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """One number about a model on some data.

    `low` and `high` bound a 95 % interval, None where there are too few items for one; `baseline` is what a
    naive method gets on the same data; `method` briefly describes how to reproduce the number.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    baseline_name: str = ""
    higher_is_better: bool = True
    method: str = ""

    @property
    def beats_baseline(self) -> bool | None:
        """Whether the value is better than the baseline; None without a baseline."""
        if self.baseline is None or math.isnan(self.value) or math.isnan(self.baseline):
            return None
        return self.value > self.baseline if self.higher_is_better else self.value < self.baseline

    @property
    def is_beaten(self) -> bool:
        """Whether a naive method does as well or better.

        A perfect score is never beaten: 1, 100 for scores in percent, 0 for losses.
        """
        is_perfect = self.value in (1.0, 100.0) if self.higher_is_better else self.value == 0
        return self.beats_baseline is False and not (is_perfect and self.value == self.baseline)

    @property
    def clearly_beats_baseline(self) -> bool | None:
        """Whether even the worse end of the interval is better than the baseline; None without an interval or
        a baseline.
        """
        worst = self.low if self.higher_is_better else self.high
        if worst is None or self.baseline is None or math.isnan(worst) or math.isnan(self.baseline):
            return None
        return worst > self.baseline if self.higher_is_better else worst < self.baseline

    def as_json(self) -> dict[str, str | float | bool | None]:
        """Plain values for JSON, which has no infinity or NaN: they become the strings "inf", "-inf" and
        "nan".
        """
        return {
            "name": self.name,
            "value": _json_number(self.value),
            "low": _json_number(self.low),
            "high": _json_number(self.high),
            "baseline": _json_number(self.baseline),
            "baseline_name": self.baseline_name,
            "higher_is_better": self.higher_is_better,
            "beats_baseline": self.beats_baseline,
            "how": self.method,
        }

    @classmethod
    def from_json(cls, values: dict[str, str | float | bool | None]) -> Score:
        """The score that `as_json` wrote."""
        numbers = {
            key: None if values.get(key) is None else float(values[key] or 0)
            for key in ("low", "high", "baseline")
        }
        return cls(
            name=str(values["name"]),
            value=float(values["value"] or 0),
            **numbers,
            baseline_name=str(values.get("baseline_name") or ""),
            higher_is_better=bool(values.get("higher_is_better", True)),
            method=str(values.get("how") or ""),
        )

    def describe(self) -> str:
        """One human-readable line.

        >>> Score("accuracy", 0.91, 0.9, 0.92, baseline=0.5, baseline_name="majority class").describe()
        'accuracy 0.9100 (95 % interval 0.9000 to 0.9200), better than majority class 0.5000'
        """
        text = f"{self.name} {_format_value(self.value)}"
        if self.low is not None and self.high is not None:
            text += f" (95 % interval {_format_value(self.low)} to {_format_value(self.high)})"
        else:
            text += " (too few items for an interval)"
        if self.baseline is None:
            return text
        baseline_text = f"{self.baseline_name or 'the baseline'} {_format_value(self.baseline)}"
        if self.beats_baseline is None:
            return f"{text}, beside {baseline_text}"
        if self.beats_baseline:
            return f"{text}, better than {baseline_text}" + (
                ", though not clearly" if self.clearly_beats_baseline is False else ""
            )
        return (
            f"{text}, equal to {baseline_text}"
            if self.value == self.baseline
            else f"{text}, worse than {baseline_text}"
        )


def beaten_scores(scores: Sequence[Score]) -> list[Score]:
    """The first score, if a naive method does as well or better; a tie is none where another score is clearly
    better.

    >>> tie = Score("exact_match", 0.0, 0.0, 0.0, baseline=0.0)
    >>> better, worse = (Score("error", value, value, value, baseline=0.7, higher_is_better=False) for value in (0.6, 0.8))
    >>> [len(beaten_scores(scores)) for scores in ([tie], [tie, better], [tie, worse], [worse, better])]
    [1, 0, 1, 1]
    """

    def is_tie(score: Score) -> bool:
        return score.value == score.baseline and any(other.clearly_beats_baseline for other in scores)

    return [score for score in scores[:1] if score.is_beaten and not is_tie(score)]


def _json_number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return str(float(value))


def _format_value(value: float) -> str:
    """Four decimals for shares and losses, fewer for large numbers."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"

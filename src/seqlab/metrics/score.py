"""A score with its confidence interval, its baseline, and its method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from seqlab.metrics.paired_difference import PairedDifference, Verdict, phrase, too_few


@dataclass(frozen=True)
class Score:
    """One number about a model on some data.

    `low` and `high` bound a 95% CI, None if there are too few items; `baseline` is what a
    naive method gets on the same data and `difference` how much better the model is than that; `method`
    briefly describes how to reproduce the number.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    baseline_name: str = ""
    higher_is_better: bool = True
    method: str = ""
    difference: PairedDifference | None = None
    note: str = ""
    """Text after the value, such as the value before calibration."""

    @property
    def verdict(self) -> Verdict | None:
        """How the value compares with the baseline; None without a baseline."""
        return None if self.difference is None else self.difference.verdict

    @property
    def is_beaten(self) -> bool:
        """Whether a naive method does as well or better.

        A perfect score is never beaten: 1, 100 for scores in percent, 0 for losses.
        """
        is_perfect = self.value in (1.0, 100.0) if self.higher_is_better else self.value == 0
        return self.verdict in ("worse", "clearly worse") or (self.verdict == "equal" and not is_perfect)

    def as_json(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity or NaN: they become the strings "inf", "-inf" and
        "nan".
        """
        difference = self.difference and {
            name: _json_number(value) if isinstance(value, float) else value
            for name, value in self.difference.as_json().items()
        }
        return {
            "name": self.name,
            "value": _json_number(self.value),
            "low": _json_number(self.low),
            "high": _json_number(self.high),
            "baseline": _json_number(self.baseline),
            "baseline_name": self.baseline_name,
            "higher_is_better": self.higher_is_better,
            "difference": difference,
            "note": self.note,
            "how": self.method,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Score:
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
            difference=_difference_from_json(values.get("difference")),
            note=str(values.get("note") or ""),
        )

    def describe(self) -> str:
        """One human-readable line.

        >>> difference = PairedDifference(0.41, 0.4, 0.42, 0.0002, 0.0002, 9999, 1000)
        >>> Score("accuracy", 0.91, 0.9, 0.92, 0.5, "majority class", difference=difference).describe()
        'accuracy 0.9100 (95% CI 0.9000 to 0.9200), clearly better than majority class (0.5000)'
        """
        notes = [self.note] if self.note else []
        if self.low is not None and self.high is not None:
            notes.append(f"95% CI {_format_value(self.low)} to {_format_value(self.high)}")
        else:
            notes.append("no 95% CI")
        text = f"{self.name} {_format_value(self.value)} ({'; '.join(notes)})"
        if self.baseline is None:
            return text
        name = f"{self.baseline_name or 'the baseline'} ({_format_value(self.baseline)})"
        return f"{text}, {self.comparison(name)}"

    def comparison(self, name: str) -> str:
        """The verdict as a phrase after the score; empty without a baseline."""
        if self.baseline is None:
            return ""
        if self.difference is None or self.difference.verdict == "incomparable":
            return f"next to {name}"
        if self.difference.verdict == "too few":
            return f"{too_few(self.difference.num_items, self.difference.unit)} to compare with {name}"
        return phrase(self.difference.verdict, name)


def describe_scores(split: str, scores: Iterable[Score]) -> str:
    """A line for every score of a split."""
    return "\n".join(f"{split}: {score.describe()}" for score in scores)


def beaten_scores(scores: Sequence[Score]) -> list[Score]:
    """The first score, if a naive method does as well or better; a tie does not count if another score is clearly
    better.

    >>> def score(value: float, p: float) -> Score:
    ...     return Score("s", 0.5, baseline=0.5, difference=PairedDifference(value, value, value, p, p, 9999, 50))
    >>> tie, better, worse = score(0.0, 1.0), score(0.1, 0.01), score(-0.1, 0.01)
    >>> [len(beaten_scores(scores)) for scores in ([tie], [tie, better], [tie, worse], [worse, better])]
    [1, 0, 1, 1]
    """

    def is_tie(score: Score) -> bool:
        return score.verdict == "equal" and any(other.verdict == "clearly better" for other in scores)

    return [score for score in scores[:1] if score.is_beaten and not is_tie(score)]


def uncompared_scores(scores: Sequence[Score]) -> list[Score]:
    """The first score, if there are too few test items to compare it with its baseline."""
    return [score for score in scores[:1] if score.verdict == "too few"]


def _difference_from_json(values: dict[str, Any] | None) -> PairedDifference | None:
    if values is None:
        return None
    known = {field.name: values[field.name] for field in fields(PairedDifference)}
    numbers = {name: float(known[name]) for name in ("value", "low", "high") if known[name] is not None}
    return PairedDifference(**{**known, **numbers})


def _json_number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return str(float(value))


def _format_value(value: float) -> str:
    """Four decimals for shares and losses, fewer for large numbers."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"

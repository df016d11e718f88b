"""The scores without test data that also occurs in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class CleanScore:
    """One score on items not seen in training, and the same score on everything."""

    name: str
    value: float
    low: float | None
    high: float | None
    on_all: float


@report_sections.register("without_leaks")
@dataclass(frozen=True)
class LeakFreeScores(ReportSection):
    """How many items also occur in training, how many are left, and the scores on those."""

    kind = "without_leaks"
    split: str
    left_out: int
    kept: int
    unit: str
    scores: Sequence[CleanScore]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(**{**value, "scores": [CleanScore(**score) for score in value["scores"]]})

    def describe(self) -> str:
        """The first score without items seen in training, and the same score on everything."""
        if not self.kept:
            return f"{self.split}: all of it is also in training; the score says nothing about new data"
        seen = (
            self.unit.replace("s", "", 1) if self.left_out == 1 else self.unit
        )  # rows, blocks of 512 tokens
        verb = "is" if self.kept == 1 else "are"
        left = (
            f"{self.split}: without the {self.left_out:,} {seen} also in training, {self.kept:,} {verb} left"
        )
        if not self.scores:
            return left
        first = self.scores[0]
        interval = (
            "(too few for an interval)"
            if first.low is None
            else f"(95% CI {first.low:.4f} to {first.high:.4f})"
        )
        return f"{left}: {first.name} {first.value:.4f} {interval}, compared with {first.on_all:.4f} on all"

    def lines(self) -> list[str]:
        return [f"WARNING: {self.describe()}"]

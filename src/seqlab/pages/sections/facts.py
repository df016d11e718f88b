"""Numbers of an evaluation that are not scores and do not need a section of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.sections.base import ReportSection, report_sections


@report_sections.register("facts")
@dataclass(frozen=True)
class Facts(ReportSection):
    """Named plain values, such as the number of examples; in JSON only."""

    kind = "facts"
    values: Mapping[str, Any]

    def to_json(self) -> Any:
        return dict(self.values)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(value)


@report_sections.register("batch_mean_accuracy")
@dataclass(frozen=True)
class BatchMeanAccuracy(ReportSection):
    """The mean of the accuracies of batches, which many training loops print in place of the accuracy."""

    kind = "batch_mean_accuracy"
    value: float
    batch_size: int

    def lines(self) -> list[str]:
        return [f"    mean of batch accuracies (batches of {self.batch_size}): {self.value:.5f}"]


@report_sections.register("spans")
@dataclass(frozen=True)
class SpanFacts(ReportSection):
    """How tags mark spans: the scheme, how many spans there are, F1 by the strict rules, and predicted tags
    that break the rules.
    """

    kind = "spans"
    scheme: str
    present: int
    strict_f1: float
    predicted_faults: int

"""The data of a report: plain values without tensors or drawing code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.sections.base import ReportSection


@dataclass(frozen=True)
class ScoreLine:
    """One score on one split, with its interval and the naive baseline it has to beat."""

    split: str
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    baseline_name: str = ""
    higher_is_better: bool = True
    unit: str = ""
    method: str = ""
    verdict: str = ""
    """How the score compares with its baseline, such as "clearly better"; empty without a baseline."""
    comparison: str = ""
    """The verdict as a phrase after the score: "clearly better than naive Bayes"."""
    note: str = ""


@dataclass(frozen=True)
class LineSeries:
    """One line of a chart. A y that is not finite is a gap."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys):
            raise ValueError(f"series '{self.name}' has {len(self.xs)} xs and {len(self.ys)} ys")


@dataclass(frozen=True)
class VerticalMarker:
    """A value on the x axis marked by a vertical line, such as the best step."""

    name: str
    x: float


@dataclass(frozen=True)
class ReferenceLine:
    """A value marked by a horizontal line, such as the baseline."""

    name: str
    y: float


@dataclass(frozen=True)
class LineChart:
    """One line chart."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[LineSeries]
    log_y: bool = False
    marks: Sequence[VerticalMarker] = ()
    references: Sequence[ReferenceLine] = ()
    is_over_time: bool = True
    """Whether the last value of a line is its newest, which the legend shows."""
    log_x: bool = False


@dataclass(frozen=True)
class ConfusionTable:
    """How often each true label (row) was predicted as each label (column)."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        size = len(self.labels)
        if len(self.counts) != size or any(len(row) != size for row in self.counts):
            raise ValueError(f"{size} labels need {size} rows of {size} counts")


@dataclass(frozen=True)
class ClassLine:
    """The scores of one label; `count` is how often it is the truth."""

    label: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class WrongExample:
    """One confident mistake, and where to find it ('test.csv, line 12').

    Predicted numbers have no probability.
    """

    where: str
    text: str
    truth: str
    predicted: str
    predicted_probability: float | None
    truth_probability: float | None


@dataclass(frozen=True)
class GeneratedSample:
    """A sample of a language model at one stage of its training."""

    step: int
    prompt: str
    text: str
    valid_loss: float | None = None
    train_loss: float | None = None


@dataclass(frozen=True)
class Report:
    """The data of a run's report. Empty parts do not appear on the page."""

    title: str
    subtitle: str = ""
    created: str = ""
    summary: Sequence[tuple[str, str]] = ()
    scores: Sequence[ScoreLine] = ()
    curves: Sequence[LineChart] = ()
    samples: Sequence[GeneratedSample] = ()
    warnings: Sequence[str] = ()
    recipe: str = ""
    next_commands: Sequence[str] = ()
    sections: Sequence[ReportSection] = ()
    """What the evaluation shows beyond its scores."""

"""Which labels are mistaken for which, and the scores of each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.confusion_matrix import (
    MAX_CLASSES,
    abbreviate,
    describe_confusion_matrix,
    draw_confusion_matrix,
    most_confused_classes,
)
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_fixed, format_percent
from seqlab.pages.report_data import ClassLine, ConfusionTable
from seqlab.pages.sections.base import ReportSection, report_sections

MAX_PAIRS = 8
MAX_ROWS = 200
MAX_PRINTED = 40
"""Classes that the command line prints."""


@report_sections.register("confusion")
@dataclass(frozen=True)
class ConfusionMatrix(ReportSection):
    """How often each true label (row) was predicted as each label (column)."""

    kind = "confusion"
    title = "Confusion"
    position = 20
    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    def html(self) -> Markup | None:
        return confusion_section(ConfusionTable(self.labels, self.counts)) if self.labels else None


@dataclass(frozen=True)
class ClassTable(ReportSection):
    """Precision, recall and F1 of every class."""

    classes: Sequence[ClassLine]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([ClassLine(**line) for line in value["classes"]])

    def lines(self) -> list[str]:
        width = max((len(_one_line(line.label)) for line in self.classes), default=0)
        lines = [
            f"    {_one_line(line.label):<{min(width, 30)}}  {_format_scores(line)}"
            for line in self.classes[:MAX_PRINTED]
        ]
        if len(self.classes) > MAX_PRINTED:
            lines.append(f"    … and {len(self.classes) - MAX_PRINTED:,} more classes; use --json to see all")
        return lines

    def html(self) -> Markup | None:
        return classes_section(self.classes) if self.classes else None


@report_sections.register("per_span_type")
@dataclass(frozen=True)
class SpanTypeScores(ClassTable):
    """Precision, recall and F1 of every type of span."""

    kind = "per_span_type"
    title = "Spans"
    position = 30


@report_sections.register("per_class")
@dataclass(frozen=True)
class PerClassScores(ClassTable):
    """Precision, recall and F1 of every class or label."""

    kind = "per_class"
    title = "Labels"
    position = 40


def _one_line(label: str) -> str:
    return " ".join(label.split())


def _format_scores(line: ClassLine) -> str:
    return f"precision {line.precision:.3f}  recall {line.recall:.3f}  F1 {line.f1:.3f}  ({line.count:,})"


def confusion_section(confusion: ConfusionTable) -> Markup:
    visible_matrix = most_confused_classes(confusion)
    note = (
        f" Showing the {MAX_CLASSES} classes with the most mistakes."
        if len(visible_matrix.labels) < len(confusion.labels)
        else ""
    )
    explanation = (
        "Each row is a true label: blue is the share predicted correctly, orange the shares predicted as"
        " another label. Hover over a cell to see its counts."
    )
    return tag(
        "div",
        tag("p", describe_confusion_matrix(confusion), note, " ", tag("span", explanation, class_="quiet")),
        tag(
            "div",
            tag("div", draw_confusion_matrix(visible_matrix, ident="confusion"), class_="scroll"),
            _pairs(confusion),
            class_="beside",
        ),
    )


def confused_pairs(confusion: ConfusionTable, *, limit: int = MAX_PAIRS) -> list[tuple[str, str, int, float]]:
    """The most frequent mistakes: target, prediction, count, and share of the target's examples."""
    pairs = []
    for row, counts in enumerate(confusion.counts):
        total = sum(counts)
        pairs += [
            (confusion.labels[row], confusion.labels[j], count, count / total)
            for j, count in enumerate(counts)
            if count and j != row
        ]
    return sorted(pairs, key=lambda pair: -pair[2])[:limit]


def _pairs(confusion: ConfusionTable) -> Markup:
    pairs = confused_pairs(confusion)
    if not pairs:
        return tag("p", "No mistakes.")
    rows = [
        tag(
            "tr",
            tag(
                "td",
                tag("bdi", abbreviate(truth, 40)),
                tag("span", " taken for ", class_="quiet"),
                tag("bdi", abbreviate(predicted, 40)),
            ),
            tag("td", f"{count:,}", class_="num"),
            tag("td", format_percent(share), class_="num"),
        )
        for truth, predicted, count, share in pairs
    ]
    heads = [tag("th", "most frequent mistakes", scope="col"), tag("th", "count", scope="col", class_="num")]
    heads.append(tag("th", "share of class", scope="col", class_="num"))
    return tag("div", tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows)), class_="scroll")


def classes_section(lines: Sequence[ClassLine]) -> Markup:
    """Weakest first."""
    ordered = sorted(lines, key=lambda line: (line.f1, line.label))
    heads = [tag("th", "label", scope="col")]
    heads += [
        tag("th", name, scope="col", class_="num") for name in ("F1", "precision", "recall", "examples")
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", *[_class_row(line) for line in ordered[:MAX_ROWS]]),
        class_="classes",
    )
    note = "Weakest first." + (
        f" Showing the first {MAX_ROWS} of {len(lines):,}." if len(lines) > MAX_ROWS else ""
    )
    return tag("div", tag("p", note, class_="quiet"), tag("div", table, class_="scroll"))


def _class_row(line: ClassLine) -> Markup:
    scores = [_meter(value) for value in (line.f1, line.precision, line.recall)]
    return tag(
        "tr",
        tag("th", tag("bdi", abbreviate(line.label, 60)), scope="row"),
        *scores,
        tag("td", f"{line.count:,}", class_="num"),
    )


def _meter(value: float) -> Markup:
    """A number above a bar of proportional length."""
    width = min(max(value, 0.0), 1.0) if value == value else 0.0
    return tag(
        "td", tag("span", format_fixed(value, 3)), class_="num meter", style=f"--share: {100 * width:.1f}%"
    )

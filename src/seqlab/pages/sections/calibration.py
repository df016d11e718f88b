"""Calibration and thresholds of a classifier, for its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_fixed
from seqlab.pages.report_data import LineChart, LineSeries, VerticalMarker
from seqlab.pages.sections.base import ReportSection, report_sections


@report_sections.register("calibration")
@dataclass(frozen=True)
class CalibrationCurves(ReportSection):
    """Confidence and accuracy by bin, before and after temperature scaling."""

    kind = "calibration"
    title = "Calibration"
    position = 52

    temperature: float
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    def html(self) -> Markup:
        return render_calibration(self)


@report_sections.register("thresholds")
@dataclass(frozen=True)
class Thresholds(ReportSection):
    """Precision, recall and F1 of one label by probability threshold, with a table of selected thresholds."""

    kind = "thresholds"
    title = "Other thresholds"
    position = 54

    label: str
    chosen: float | None
    thresholds: list[float]
    precision: list[float]
    recall: list[float]
    f1: list[float]
    table: list[dict[str, float]]

    def html(self) -> Markup:
        return render_thresholds(self)


def render_calibration(calibration: CalibrationCurves) -> Markup:
    """The reliability curve: on the diagonal the confidence equals the accuracy; below it the model is
    overconfident.
    """
    before, after = calibration.before, calibration.after
    is_scaled = calibration.temperature != 1.0
    summary = (
        f"A temperature of {calibration.temperature:.3f}, fitted on the validation data, changes the"
        f" expected calibration error (ECE) from {before['error']:.4f} to {after['error']:.4f} and the"
        f" loss from {before['nats']:.4f} to {after['nats']:.4f} nats. No prediction changes; reported"
        " probabilities use this temperature."
        if is_scaled
        else f"The expected calibration error (ECE) is {before['error']:.4f}. Temperature scaling does"
        " not help on the validation data, so the probabilities are not rescaled."
    )
    explanation = (
        "On the diagonal, confidence equals accuracy; below it, the model is overconfident. Each dot is"
        " one of 10 confidence bins."
    )
    lowest = min([entry["confidence"] for entry in [*before["bins"], *after["bins"]]], default=0.0)
    curve = LineChart(
        "Reliability",
        "confidence",
        "accuracy",
        [
            _reliability_series("uncalibrated", before),
            *([_reliability_series("after temperature scaling", after)] if is_scaled else []),
            LineSeries("confidence = accuracy", [lowest, 1.0], [lowest, 1.0]),
        ],
        is_over_time=False,
    )
    counts = [
        tag("tr", *[tag("td", value, class_="num") for value in _row(entry)]) for entry in after["bins"]
    ]
    heads = [tag("th", name, scope="col", class_="num") for name in ("probability", "accuracy", "examples")]
    table = tag("div", tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *counts)), class_="scroll")
    return tag(
        "div",
        tag("p", summary, " ", tag("span", explanation, class_="quiet")),
        tag("div", draw_line_chart(curve, ident="reliability"), table, class_="beside"),
    )


def _reliability_series(name: str, side: Mapping[str, Any]) -> LineSeries:
    return LineSeries(
        name, [entry["confidence"] for entry in side["bins"]], [entry["accuracy"] for entry in side["bins"]]
    )


def _row(entry: Mapping[str, float]) -> list[str]:
    return [format_fixed(entry["confidence"], 3), format_fixed(entry["accuracy"], 3), f"{entry['count']:,}"]


def render_thresholds(thresholds: Thresholds) -> Markup:
    """The effect of a lower or higher threshold for the label."""
    series = [LineSeries(name, thresholds.thresholds, values) for name, values in _lines(thresholds)]
    marks = (
        [VerticalMarker("best F1 on validation", thresholds.chosen)] if thresholds.chosen is not None else []
    )
    curve = LineChart(
        f"Thresholds for {thresholds.label}",
        "threshold",
        "score",
        series,
        marks=marks,
    )
    summary = [
        "The label ",
        tag("b", tag("bdi", thresholds.label)),
        " is predicted when its probability reaches the threshold, which is 0.5 by default.",
    ]
    if thresholds.chosen is not None:
        summary.append(f" The best F1 on the validation data is at {thresholds.chosen:.3f}.")
    heads = [
        tag("th", name, scope="col", class_="num")
        for name in ("threshold", "said", "precision", "recall", "F1", "accuracy")
    ]
    rows = [_table_row(line, is_chosen=line["threshold"] == thresholds.chosen) for line in thresholds.table]
    table = tag("div", tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows)), class_="scroll")
    return tag(
        "div",
        tag("p", *summary),
        tag("div", draw_line_chart(curve, ident="thresholds"), table, class_="beside"),
    )


def _lines(thresholds: Thresholds) -> list[tuple[str, list[float]]]:
    return [("precision", thresholds.precision), ("recall", thresholds.recall), ("F1", thresholds.f1)]


def _table_row(line: Mapping[str, float], *, is_chosen: bool) -> Markup:
    values = [
        f"{line['threshold']:.3f}",
        f"{line['said']:,}",
        *[format_fixed(line[name], 3) for name in ("precision", "recall", "f1", "accuracy")],
    ]
    return tag("tr", *[tag("td", tag("b", value) if is_chosen else value, class_="num") for value in values])

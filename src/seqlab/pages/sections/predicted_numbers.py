"""Predicted numbers against targets: a scatter plot, and the residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.line_chart import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, Axis, draw_grid, left_margin
from seqlab.pages.charts.ticks import round_range, tick_labels, ticks, widen_range
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number
from seqlab.pages.report_data import LineChart
from seqlab.pages.sections.base import ReportSection, report_sections

MANY_POINTS = 400
"""With this many points or more, dots are smaller."""


@report_sections.register("numbers")
@dataclass(frozen=True)
class PredictedNumbers(ReportSection):
    """True and predicted values of some examples, and half the width of the interval around a prediction."""

    kind = "numbers"
    title = "Predicted and true values"
    position = 50
    truth: Sequence[float]
    predicted: Sequence[float]
    reach: float | None = None
    within_reach: float | None = None

    def html(self) -> Markup:
        return numbers_section(self)


def numbers_section(numbers: PredictedNumbers) -> Markup:
    residuals = [truth - predicted for truth, predicted in zip(numbers.truth, numbers.predicted, strict=True)]
    all_values = [*numbers.truth, *numbers.predicted]
    low, high = min(all_values), max(all_values)
    explanation = (
        "Each dot is an example. On the dashed line, the prediction equals the true value. The residuals"
        " show whether errors grow with the value."
    )
    if numbers.reach is not None and numbers.within_reach is not None:
        explanation += (
            f" {numbers.within_reach:.0%} of the true values are within {format_number(numbers.reach)} of"
            " the prediction, a margin chosen on the validation data."
        )
    first = _draw_scatter_plot(
        "Predicted and true values",
        "predicted",
        "truth",
        numbers.predicted,
        numbers.truth,
        line=((low, low), (high, high)),
        ident="truth",
    )
    second = _draw_scatter_plot(
        "Residuals", "predicted", "truth - predicted", numbers.predicted, residuals,
        line=((min(numbers.predicted), 0.0), (max(numbers.predicted), 0.0)), ident="left-over",
    )  # fmt: skip
    return tag("div", tag("p", explanation, class_="quiet"), tag("div", first, second, class_="charts"))


def _draw_scatter_plot(
    title: str,
    x_label: str,
    y_label: str,
    xs: Sequence[float],
    ys: Sequence[float],
    *,
    line: tuple[tuple[float, float], tuple[float, float]],
    ident: str,
) -> Markup:
    ends_x, ends_y = [point[0] for point in line], [point[1] for point in line]
    left, right = widen_range(min([*xs, *ends_x]), max([*xs, *ends_x]))
    bottom, top = round_range(min([*ys, *ends_y]), max([*ys, *ends_y]))
    y_axis = Axis(bottom, top, HEIGHT - BOTTOM, TOP)
    x_axis = Axis(left, right, left_margin(tick_labels(ticks(bottom, top))), WIDTH - RIGHT)
    size = 1.6 if len(xs) > MANY_POINTS else 2.6
    dots = [
        tag(
            "circle",
            tag("title", f"{y_label} {format_number(y)}, {x_label} {format_number(x)}"),
            cx=round(x_axis.to_pixel(x), 1),
            cy=round(y_axis.to_pixel(y), 1),
            r=size,
        )
        for x, y in zip(xs, ys, strict=True)
    ]
    (x1, y1), (x2, y2) = ((x_axis.to_pixel(x), y_axis.to_pixel(y)) for x, y in line)
    svg = tag(
        "svg",
        tag("title", title, id=f"{ident}-title"),
        tag(
            "desc",
            f"{len(xs):,} examples; {x_label} from {format_number(min(xs))} to {format_number(max(xs))}.",
            id=f"{ident}-desc",
        ),
        draw_grid(x_axis, y_axis, LineChart(title, x_label, y_label, [])),
        tag("g", *dots, style="--series: var(--c0); opacity: .55"),
        tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="reference"),
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )
    return tag("figure", tag("h3", title), svg, class_="chart-box")

"""Charts of activation functions with their values, derivatives and ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from seqlab.pages.charts.diagram import Diagram, DiagramPart, Label, Line

PANEL_WIDTH, PANEL_HEIGHT = 230.0, 230.0
INNER = 168.0


class ActivationCurve(Protocol):
    """One activation as plain numbers; `seqlab.cells.activations.sample_activation` makes them."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[float]: ...
    @property
    def outputs(self) -> list[float]: ...
    @property
    def derivatives(self) -> list[float]: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def activation_curves(curves: Sequence[ActivationCurve], *, y_limit: float = 1.6) -> Diagram:
    """One panel per activation, all with the same scale; values beyond ±y_limit are clipped."""
    parts: list[DiagramPart] = []
    for index, curve in enumerate(curves):
        parts += _panel(curve, 30.0 + PANEL_WIDTH * index, y_limit)
    width = 30.0 + PANEL_WIDTH * len(curves)
    parts += [
        Line([(30.0, PANEL_HEIGHT + 22.0), (56.0, PANEL_HEIGHT + 22.0)], style="value", arrow=False),
        Label(62.0, PANEL_HEIGHT + 26.0, "value", anchor="start", muted=True),
        Line([(112.0, PANEL_HEIGHT + 22.0), (138.0, PANEL_HEIGHT + 22.0)], style="slope", arrow=False),
        Label(144.0, PANEL_HEIGHT + 26.0, "slope", anchor="start", muted=True),
    ]
    description = " ".join(
        f"{curve.name}: values from {_bound(curve.low)} to {_bound(curve.high)}, slope at most"
        f" {max(curve.derivatives):g}."
        for curve in curves
    )
    return Diagram(
        "Activation functions and their derivatives", description, width, PANEL_HEIGHT + 44.0, parts
    )


def _panel(curve: ActivationCurve, left: float, y_limit: float) -> Iterator[DiagramPart]:
    top, bottom = 44.0, 44.0 + INNER
    first, last = curve.inputs[0], curve.inputs[-1]

    def to_point(x: float, y: float) -> tuple[float, float]:
        return left + (x - first) / (last - first) * INNER, top + (y_limit - y) / (2 * y_limit) * INNER

    yield Label(left, 22.0, curve.name, anchor="start", bold=True)
    yield Label(left + INNER, 22.0, f"{_bound(curve.low)} … {_bound(curve.high)}", anchor="end", muted=True)
    for height in (-1.0, 0.0, 1.0):
        y = to_point(0.0, height)[1]
        yield Line([(left, y), (left + INNER, y)], style="axis", arrow=False)
        yield Label(left - 5.0, y + 4.0, f"{height:g}", anchor="end", muted=True)
    yield Line([(to_point(0.0, 0.0)[0], top), (to_point(0.0, 0.0)[0], bottom)], style="axis", arrow=False)
    for x in (first, 0.0, last):
        yield Label(to_point(x, 0.0)[0], bottom + 14.0, f"{x:g}", muted=True)
    yield Line(
        [to_point(x, y) for x, y in zip(curve.inputs, curve.derivatives, strict=True) if abs(y) <= y_limit],
        style="slope",
        arrow=False,
    )
    yield Line(
        [to_point(x, y) for x, y in zip(curve.inputs, curve.outputs, strict=True) if abs(y) <= y_limit],
        style="value",
        arrow=False,
    )


def _bound(value: float) -> str:
    return f"{value:g}" if abs(value) != float("inf") else ("∞" if value > 0 else "−∞")

"""Activations side by side: each with its values, its slope and its range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from seqlab.pages.charts.diagram import Drawing, Line, Part, Words

PANEL_WIDTH, PANEL_HEIGHT = 230.0, 230.0
INNER = 168.0


class ActivationCurve(Protocol):
    """One activation as plain numbers; `seqlab.cells.activations.curve` makes them."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[float]: ...
    @property
    def outputs(self) -> list[float]: ...
    @property
    def slopes(self) -> list[float]: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def activation_curves(curves: Sequence[ActivationCurve], *, shown: float = 1.6) -> Drawing:
    """One panel per activation, all with the same scale; values beyond ±shown are cut off."""
    parts: list[Part] = []
    for number, curve in enumerate(curves):
        parts += _panel(curve, 30.0 + PANEL_WIDTH * number, shown)
    width = 30.0 + PANEL_WIDTH * len(curves)
    parts += [
        Line([(30.0, PANEL_HEIGHT + 22.0), (56.0, PANEL_HEIGHT + 22.0)], way="value", arrow=False),
        Words(62.0, PANEL_HEIGHT + 26.0, "value", anchor="start", quiet=True),
        Line([(112.0, PANEL_HEIGHT + 22.0), (138.0, PANEL_HEIGHT + 22.0)], way="slope", arrow=False),
        Words(144.0, PANEL_HEIGHT + 26.0, "slope", anchor="start", quiet=True),
    ]
    about = " ".join(
        f"{curve.name}: values from {_bound(curve.low)} to {_bound(curve.high)}, slope at most {max(curve.slopes):g}." for curve in curves
    )
    return Drawing("Activations and their slopes", about, width, PANEL_HEIGHT + 44.0, parts)


def _panel(curve: ActivationCurve, left: float, shown: float) -> Iterator[Part]:
    top, bottom = 44.0, 44.0 + INNER
    first, last = curve.inputs[0], curve.inputs[-1]

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - first) / (last - first) * INNER, top + (shown - y) / (2 * shown) * INNER

    yield Words(left, 22.0, curve.name, anchor="start", strong=True)
    yield Words(left + INNER, 22.0, f"{_bound(curve.low)} … {_bound(curve.high)}", anchor="end", quiet=True)
    for height in (-1.0, 0.0, 1.0):
        y = place(0.0, height)[1]
        yield Line([(left, y), (left + INNER, y)], way="axis", arrow=False)
        yield Words(left - 5.0, y + 4.0, f"{height:g}", anchor="end", quiet=True)
    yield Line([(place(0.0, 0.0)[0], top), (place(0.0, 0.0)[0], bottom)], way="axis", arrow=False)
    for x in (first, 0.0, last):
        yield Words(place(x, 0.0)[0], bottom + 14.0, f"{x:g}", quiet=True)
    yield Line([place(x, y) for x, y in zip(curve.inputs, curve.slopes, strict=True) if abs(y) <= shown], way="slope", arrow=False)
    yield Line([place(x, y) for x, y in zip(curve.inputs, curve.outputs, strict=True) if abs(y) <= shown], way="value", arrow=False)


def _bound(value: float) -> str:
    return f"{value:g}" if abs(value) != float("inf") else ("∞" if value > 0 else "−∞")

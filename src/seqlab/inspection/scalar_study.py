"""Vanishing and exploding gradients with one unit and one weight, as plain numbers for a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, tanh
from typing import Literal

from seqlab.core.errors import UsageError
from seqlab.inspection.table_display import TableDisplay

GradientFate = Literal["vanishes", "stays", "explodes"]


@dataclass(frozen=True)
class ScalarCurve(TableDisplay):
    """(γ̄ · w)^(T - t0) for every distance T - t0."""

    slope: float
    """γ̄: the mean slope of the activation along the way."""
    weight: float
    distances: list[int]
    factors: list[float]
    fate: GradientFate

    @property
    def factor(self) -> float:
        return self.slope * self.weight

    def display_sentences(self) -> list[str]:
        return [f"(slope {self.slope:g} · weight {self.weight:g})^distance: the gradient {self.fate}"]

    def table(self) -> list[dict[str, float]]:
        return [
            {"distance": distance, "factor": factor}
            for distance, factor in zip(self.distances, self.factors, strict=True)
        ]


@dataclass(frozen=True)
class ScalarTrajectory(TableDisplay):
    """h_t = tanh(w h_{t-1} + x_t) with one unit: its derivative, step by step."""

    weight: float
    hidden: list[float]
    slopes: list[float]
    """tanh′(a_t) = 1 - h_t², in (0, 1]."""
    derivatives: list[float]
    """∂h_t/∂h_0 = Π w · tanh′(a_j) after each step."""
    mean_slope: float
    """γ̄: the geometric mean of the slopes, with which (γ̄ · w)^T is ∂h_T/∂h_0 itself."""

    def display_sentences(self) -> list[str]:
        return [f"weight {self.weight:g}, mean slope {self.mean_slope:.3f}"]

    def table(self) -> list[dict[str, float]]:
        return [
            {"time": time, "hidden": hidden, "slope": slope, "derivative": derivative}
            for time, (hidden, slope, derivative) in enumerate(
                zip(self.hidden, self.slopes, self.derivatives, strict=True), start=1
            )
        ]


def scalar_curve(weight: float, *, slope: float = 1.0, max_distance: int = 50) -> ScalarCurve:
    """The factor by which a derivative grows or shrinks after 0, 1, … `max_distance` steps.

    >>> [round(scalar_curve(weight, max_distance=50).factors[-1], 3) for weight in (0.9, 1.0, 1.1)]
    [0.005, 1.0, 117.391]
    """
    distances = list(range(max_distance + 1))
    size = abs(slope * weight)
    fate: GradientFate = "stays" if abs(size - 1) <= 1e-9 else "explodes" if size > 1 else "vanishes"
    return ScalarCurve(
        slope, weight, distances, [(slope * weight) ** distance for distance in distances], fate
    )


def scalar_curves(
    weights: Sequence[float] = (0.9, 1.0, 1.1), *, slope: float = 1.0, max_distance: int = 50
) -> list[ScalarCurve]:
    """Three cases: a weight below 1, at 1 and above 1."""
    return [scalar_curve(weight, slope=slope, max_distance=max_distance) for weight in weights]


def scalar_trajectory(weight: float, inputs: Sequence[float], *, hidden: float = 0.0) -> ScalarTrajectory:
    """The derivative with the actual slopes of the unit, which can only shrink it."""
    if not inputs:
        raise UsageError("there are no inputs.")
    states, slopes, derivatives = [], [], []
    derivative = 1.0
    for value in inputs:
        hidden = tanh(weight * hidden + value)
        slopes.append(1 - hidden * hidden)
        derivative *= weight * slopes[-1]
        states.append(hidden)
        derivatives.append(derivative)
    mean = (
        exp(sum(map(log, slopes)) / len(slopes)) if all(slopes) else 0.0
    )  # 1 - h² rounds to 0 where tanh rounds to ±1
    return ScalarTrajectory(weight, states, slopes, derivatives, mean)

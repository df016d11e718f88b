"""Why gradients vanish or explode: one weight, one matrix, and real cells, by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seqlab.cells.base import Cell
from seqlab.cells.initialization import initialize
from seqlab.inspection.jacobians import StatePart, jacobian_norms
from seqlab.inspection.rnn_jacobian import norm_bound
from seqlab.inspection.scalar_study import scalar_curves, scalar_trajectory
from seqlab.inspection.unroll import unroll
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.pages.study import format_value
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import seeded

WEIGHTS = (0.9, 1.0, 1.1)
TRAJECTORY_WEIGHT = 1.5
STRETCHED = 2.0
"""Factor on an orthogonal matrix with which gradients explode."""


@dataclass(frozen=True)
class VanishingConfig:
    """Sizes of the measurements."""

    max_distance: int
    hidden_size: int
    distances: tuple[int, ...]


FULL = VanishingConfig(max_distance=60, hidden_size=24, distances=(1, 5, 10, 20, 40, 60))
QUICK = VanishingConfig(max_distance=30, hidden_size=8, distances=(1, 10, 30))


@studies.register("vanishing")
def vanishing(*, seed: int, quick: bool) -> Finding:
    """The norms of the Jacobians of untrained networks."""
    config = QUICK if quick else FULL
    scalar: dict[str, Sequence[float]] = {
        f"γw = {curve.factor:g}": curve.factors
        for curve in scalar_curves(WEIGHTS, max_distance=config.max_distance)
    }
    measured = _measure(config, seed)
    rows: list[dict[str, Value]] = []
    for distance in config.distances:
        rows.append(
            {
                "distance": distance,
                **{name: values[distance] for name, values in {**scalar, **measured}.items()},
            }
        )
    trajectory = scalar_trajectory(TRAJECTORY_WEIGHT, [0.3] * config.max_distance)
    last = rows[-1]
    return Finding(
        claim=(
            "Each step multiplies a gradient by at most γ_max · λ_1: below 1 it must vanish, above 1 it"
            " may explode. Gates slow this down."
        ),
        conclusion=(
            f"Over {last['distance']} steps, the gradient of the plain RNN shrinks to"
            f" {format_value(last['rnn'])} of its size (bound {format_value(last['rnn, bound'])}), that of"
            f" an LSTM's cell state to {format_value(last['lstm'])}, that of a GRU's state to"
            f" {format_value(last['gru'])}; with {STRETCHED:g} times an orthogonal matrix and"
            f" no activation, it changes to {format_value(last['linear, stretched'])}."
        ),
        rows=rows,
        curves=[
            _curve("One weight: (γ̄ · w) to the power of the distance", scalar),
            _curve("Jacobian norm vs. distance, and the bound", measured),
        ],
        notes=[
            (
                f"One unit, w = {TRAJECTORY_WEIGHT:g}, constant input: ∂h_T/∂h_0 ="
                f" {trajectory.derivatives[-1]:.3e}, the product over its steps."
            ),
            (
                f"(γ̄ · w)^T is {(trajectory.mean_slope * TRAJECTORY_WEIGHT) ** config.max_distance:.3e}"
                f" with the mean slope γ̄ = {trajectory.mean_slope:.4f} along the trajectory."
            ),
            "tanh′ is in (0, 1], so it can only shrink a gradient. Exploding gradients come from the matrix.",
        ],
    )


def _measure(config: VanishingConfig, seed: int) -> dict[str, Sequence[float]]:
    """The largest Jacobian norm over four sequences, by distance."""
    norms_by_network: dict[str, Sequence[float]] = {}
    with seeded(seed, "vanishing") as generator:
        steps = torch.randn(4, config.max_distance + 1, 6, generator=generator, dtype=torch.float64)

        def norms(cell: Cell, part: StatePart = "hidden") -> list[float]:
            return np.nanmax(jacobian_norms(unroll(cell, steps), part).norms, axis=0).tolist()

        def build(name: str, **options: Any) -> Cell:
            return cell_maker(name, **options)(6, config.hidden_size).double()

        bound = norm_bound(unroll(build("rnn"), steps))
        norms_by_network["rnn"], norms_by_network["rnn, bound"] = (
            np.nanmax(bound.norms, axis=0).tolist(),
            bound.bounds.tolist(),
        )
        linear = build("rnn", activation="identity")
        initialize(linear, "orthogonal")
        with torch.no_grad():
            linear.recurrent.mul_(STRETCHED)
        norms_by_network["linear, stretched"] = norms(linear)
        norms_by_network["lstm"] = norms(build("lstm"), "memory")
        norms_by_network["lstm, forget bias 4"] = norms(build("lstm", forget_bias=4.0), "memory")
        norms_by_network["gru"] = norms(build("gru"))
    return norms_by_network


def _curve(title: str, lines: Mapping[str, Sequence[float]]) -> LineChart:
    series = [LineSeries(name, range(len(values)), values) for name, values in lines.items()]
    return LineChart(title, "distance in steps", "norm", series, log_y=True)

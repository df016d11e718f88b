"""Why gradients vanish or explode: one weight, one matrix, and real cells, distance by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seqlab.cells.base import Cell
from seqlab.cells.initialization import initialise
from seqlab.inspection.jacobians import Part, jacobian_norms
from seqlab.inspection.rnn_jacobian import norm_bound
from seqlab.inspection.scalar_study import scalar_study, scalar_walk
from seqlab.inspection.unroll import unroll
from seqlab.pages.report_data import Curve, Series
from seqlab.pages.study import shown
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import seeded

WEIGHTS = (0.9, 1.0, 1.1)
WALKED = 1.5
STRETCHED = 2.0
"""How much longer than orthogonal the exploding matrix is."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    longest: int
    hidden_size: int
    distances: tuple[int, ...]


FULL = Sizes(longest=60, hidden_size=24, distances=(1, 5, 10, 20, 40, 60))
QUICK = Sizes(longest=30, hidden_size=8, distances=(1, 10, 30))


@studies.register("vanishing")
def vanishing(*, seed: int, quick: bool) -> Finding:
    """Untrained networks; nothing but the norms of their Jacobians."""
    sizes = QUICK if quick else FULL
    scalar: dict[str, Sequence[float]] = {f"γw = {curve.factor:g}": curve.factors for curve in scalar_study(WEIGHTS, longest=sizes.longest)}
    measured = _measure(sizes, seed)
    rows: list[dict[str, Value]] = []
    for distance in sizes.distances:
        rows.append({"distance": distance, **{name: values[distance] for name, values in {**scalar, **measured}.items()}})
    walk = scalar_walk(WALKED, [0.3] * sizes.longest)
    last = rows[-1]
    return Finding(
        claim="A step multiplies a gradient by at most γ_max · λ_1: below 1 it must vanish, above 1 it may explode. Gates slow this down.",
        found=f"Over {last['distance']} steps the gradient of the plain network is {shown(last['rnn'])} of what it was (bound "
        f"{shown(last['rnn, bound'])}), that "
        f"of an LSTM's memory {shown(last['lstm'])}, that of a GRU's state {shown(last['gru'])}; with a matrix {STRETCHED:g} times orthogonal and no "
        f"activation it is {shown(last['linear, stretched'])}.",
        rows=rows,
        curves=[
            _curve("One weight: (γ̄ · w) to the power of the distance", scalar),
            _curve("Jacobian norm against distance, and the bound", measured),
        ],
        notes=[
            f"One unit, w = {WALKED:g}, constant input: ∂h_T/∂h_0 = {walk.derivatives[-1]:.3e}, the product over its steps.",
            f"(γ̄ · w)^T is {(walk.mean_slope * WALKED) ** sizes.longest:.3e} with the mean slope γ̄ = {walk.mean_slope:.4f} that it met.",
            "tanh′ lies in (0, 1]: it can only shrink a gradient. Explosions come from the matrix.",
        ],
    )


def _measure(sizes: Sizes, seed: int) -> dict[str, Sequence[float]]:
    """The largest Jacobian norm over four sequences, by distance."""
    found: dict[str, Sequence[float]] = {}
    with seeded(seed, "vanishing") as generator:
        steps = torch.randn(4, sizes.longest + 1, 6, generator=generator, dtype=torch.float64)

        def norms(cell: Cell, part: Part = "hidden") -> list[float]:
            return np.nanmax(jacobian_norms(unroll(cell, steps), part).norms, axis=0).tolist()

        def build(name: str, **options: Any) -> Cell:
            return cell_maker(name, **options)(6, sizes.hidden_size).double()

        bound = norm_bound(unroll(build("rnn"), steps))
        found["rnn"], found["rnn, bound"] = np.nanmax(bound.norms, axis=0).tolist(), bound.bounds.tolist()
        linear = build("rnn", activation="identity")
        initialise(linear, "orthogonal")
        with torch.no_grad():
            linear.recurrent.mul_(STRETCHED)
        found["linear, stretched"] = norms(linear)
        found["lstm"] = norms(build("lstm"), "memory")
        found["lstm, forget bias 4"] = norms(build("lstm", forget_bias=4.0), "memory")
        found["gru"] = norms(build("gru"))
    return found


def _curve(title: str, lines: Mapping[str, Sequence[float]]) -> Curve:
    series = [Series(name, range(len(values)), values) for name, values in lines.items()]
    return Curve(title, "distance in steps", "norm", series, log_y=True)

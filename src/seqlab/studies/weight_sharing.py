"""Weight sharing in recurrence, convolution and attention: which parameters a layer has, and what
determines the weights between two steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.cells.rnn import RNN
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import seeded

WIDTH, KERNEL, HEADS = 4, 3, 2
NOTHING = 1e-5
"""Changes below this share are rounding."""


@dataclass(frozen=True)
class MeasuredLayer:
    """A layer for sequences of one length, and how to apply it to (time, width) numbers."""

    module: nn.Module
    apply: Callable[[Tensor], Tensor]


def _recurrence() -> MeasuredLayer:
    cell = RNN(WIDTH, WIDTH, activation="identity")

    def apply(steps: Tensor) -> Tensor:
        state, outputs = cell.zero_state(steps[:1]), []
        for step in steps:
            output, state = cell(step.unsqueeze(0), state)
            outputs.append(output[0])
        return torch.stack(outputs)

    return MeasuredLayer(cell, apply)


def _convolution() -> MeasuredLayer:
    convolve = nn.Conv1d(WIDTH, WIDTH, KERNEL)
    return MeasuredLayer(convolve, lambda steps: convolve(F.pad(steps.T, (KERNEL - 1, 0)).unsqueeze(0))[0].T)


def _attention() -> MeasuredLayer:
    attention = MultiHeadSelfAttention(WIDTH, num_heads=HEADS)
    return MeasuredLayer(attention, lambda steps: attention(steps.unsqueeze(0))[0][0])


def _every_pair(length: int) -> MeasuredLayer:
    dense = nn.Linear(length * WIDTH, length * WIDTH)
    return MeasuredLayer(dense, lambda steps: dense(steps.flatten()).unflatten(0, (length, WIDTH)))


# How to build each layer for a sequence length, which three of the four ignore.
LAYERS: dict[str, Callable[[int], MeasuredLayer]] = {
    "recurrence": lambda _: _recurrence(),
    "convolution": lambda _: _convolution(),
    "attention": lambda _: _attention(),
    "a weight for every pair of steps": _every_pair,
}


@studies.register("weight_sharing")
def weight_sharing(*, seed: int, quick: bool) -> Finding:
    """The number of parameters of four layers at two lengths, and whether the weights between two steps
    depend on the position or on the data.
    """
    length = 8 if quick else 16
    rows = [_row(name, build, length, seed=seed) for name, build in LAYERS.items()]
    few, many = f"parameters, {length} steps", f"parameters, {2 * length} steps"
    return Finding(
        claim=(
            "A recurrence and a convolution share their weights over time; attention computes the"
            " weights between steps from the data."
        ),
        conclusion="; ".join(
            f"{row['layer']}: {row['weights between steps']} ({row[few]:,} parameters for {length} steps,"
            f" {row[many]:,} for {2 * length})"
            for row in rows
        )
        + ".",
        rows=rows,
        curves=[
            LineChart(
                "Parameters vs. sequence length",
                "steps",
                "parameters",
                [
                    LineSeries(str(row["layer"]), (length, 2 * length), [float(row[few]), float(row[many])])
                    for row in rows
                ],
            )
        ],
        notes=[
            (
                f"Each step has {WIDTH} features. The connection from step s to step t is measured as the"
                " norm of the Jacobian d output_t / d input_s, in float64."
            ),
            (
                "Along time: the difference between (s, t) and (s + 1, t + 1), relative to the largest"
                " norm. With data: the difference between two random inputs."
            ),
            (
                "The recurrence is linear, so no activation hides its weights; the convolution is causal"
                f" with a kernel of {KERNEL} steps."
            ),
        ],
    )


def _row(name: str, build: Callable[[int], MeasuredLayer], length: int, *, seed: int) -> dict[str, Value]:
    with seeded(seed, "weight_sharing"):
        layer, longer = build(length), build(2 * length)
        layer.module.double()
        first, second = (
            _step_influence(layer, torch.randn(length, WIDTH, dtype=torch.float64)) for _ in range(2)
        )
    along, with_data = _change(first[1:, 1:], first[:-1, :-1]), _change(first, second)
    return {
        "layer": name,
        "weights": ", ".join(
            f"{part} {tuple(parameter.shape)}" for part, parameter in layer.module.named_parameters()
        ),
        f"parameters, {length} steps": _count(layer.module),
        f"parameters, {2 * length} steps": _count(longer.module),
        "change along time": along,
        "change with data": with_data,
        "weights between steps": (
            "computed from the data"
            if with_data > NOTHING
            else "shared in time"
            if along <= NOTHING
            else "not shared"
        ),
    }


def _step_influence(
    layer: MeasuredLayer, steps: Float[Tensor, "time width"]
) -> Float[Tensor, "target source"]:
    jacobian = torch.autograd.functional.jacobian(layer.apply, steps)  # (target, width, source, width)
    return torch.linalg.matrix_norm(jacobian.transpose(1, 2))


def _change(first: Float[Tensor, "target source"], second: Float[Tensor, "target source"]) -> float:
    return float((first - second).abs().max() / first.abs().max())


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())

"""Training where gradients explode, with and without clipping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.blocks.recurrent import CellFactory
from seqlab.cells.base import Cell
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_models import SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small
from seqlab.training.optimizers.sgd import SGD

CLIP = 1.0


@dataclass(frozen=True)
class ClippingConfig:
    """Sizes of the training."""

    steps: int
    time: int = 40
    batch_size: int = 32
    hidden_size: int = 24
    learning_rate: float = 0.05


FULL, QUICK = ClippingConfig(steps=600), ClippingConfig(steps=150)


NETWORKS: dict[str, float] = {"identity": 1.1, "relu": 1.5}
"""Activations, with the factor on the initial recurrent matrix, which is orthogonal."""


@studies.register("clipping")
def clipping(*, seed: int, quick: bool) -> Finding:
    """The same network, data and learning rate; only the clipping norm differs."""
    config = QUICK if quick else FULL
    runs = {(name, clip): _train(name, config, clip, seed) for name in NETWORKS for clip in (CLIP, 0.0)}
    rows = [_row(name, clip, run) for (name, clip), run in runs.items()]
    clipped, free = rows[:2]
    return Finding(
        claim=(
            "Where gradients explode, g ← c · g / ‖g‖ whenever ‖g‖ > c keeps training stable; without"
            " clipping, a single step can ruin the weights."
        ),
        conclusion=(
            f"Without clipping, the linear network ends after {free['updates']} updates at"
            f" {_format_loss(free['last loss'])}. Clipped at {CLIP:g}, it goes from"
            f" {_format_loss(clipped['first loss'])} to {_format_loss(clipped['last loss'])};"
            f" {clipped['clipped updates']} of {clipped['updates']} updates were clipped."
        ),
        rows=rows,
        curves=[
            _curve("Loss", "squared error", {key: run.losses for key, run in runs.items()}),
            _curve(
                "Gradient norm before clipping",
                "norm",
                {key: run.norms for key, run in runs.items()},
                [ReferenceLine("clipping norm", CLIP)],
            ),
        ],
        notes=[
            (
                f"Gradient descent with learning rate {config.learning_rate:g}; the target at each of"
                f" {config.time} steps is the sum of all inputs so far."
            ),
            (
                "Initial recurrent matrix, as a multiple of an orthogonal one:"
                f" {', '.join(f'{name} {stretch:g}' for name, stretch in NETWORKS.items())}."
            ),
        ],
    )


def _train(activation: str, config: ClippingConfig, clip: float, seed: int) -> TrainingRecord:
    with seeded(seed, "clipping", activation) as generator:
        model = SmallRecurrentModel(1, _stretched(activation), config.hidden_size, 1)

        def loss() -> Tensor:
            inputs = torch.randn(config.batch_size, config.time, generator=generator)
            targets = inputs.cumsum(dim=1) / config.time**0.5
            return (model(inputs.unsqueeze(-1)).squeeze(-1) - targets).square().mean()

        return train_small(
            model,
            loss,
            steps=config.steps,
            learning_rate=config.learning_rate,
            clip_norm=clip,
            build_optimizer=SGD,
            constant=True,
        )


def _stretched(activation: str) -> CellFactory:
    """A cell whose recurrent matrix lengthens every vector."""
    make = cell_maker("rnn", initialization="orthogonal", activation=activation)

    def make_longer(input_size: int, hidden_size: int) -> Cell:
        cell = make(input_size, hidden_size)
        with torch.no_grad():
            cell.recurrent.mul_(NETWORKS[activation])
        return cell

    return make_longer


def _row(network: str, clip: float, run: TrainingRecord) -> dict[str, Value]:
    last = run.losses[-20:]
    return {
        "network": network,
        "clipping": f"{clip:g}" if clip else "none",
        "updates": len(run.losses),
        "first loss": run.losses[0],
        "last loss": math.inf if run.diverged else sum(last) / len(last),
        "largest norm": max(norm for norm in run.norms if math.isfinite(norm)),
        "clipped updates": sum(norm > clip for norm in run.norms) if clip else 0,
    }


def _curve(
    title: str,
    label: str,
    lines: dict[tuple[str, float], list[float]],
    references: Sequence[ReferenceLine] = (),
) -> LineChart:
    series = [
        LineSeries(f"{name}, {'clipped' if clip else 'not clipped'}", range(len(values)), values)
        for (name, clip), values in lines.items()
    ]
    return LineChart(title, "update", label, series, log_y=True, references=references)


def _format_loss(loss: Value) -> str:
    return f"{float(loss):.3g}" if math.isfinite(float(loss)) else "NaN or infinity"

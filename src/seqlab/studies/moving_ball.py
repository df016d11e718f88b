"""Predict the next position of a ball, which is ambiguous without the past."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.pages.charts.trajectories import Trajectory, TrajectoryPlot, draw_trajectories
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, studies
from seqlab.studies.kit.small_models import PerStepModel, SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_training import seeded, train_small

WITHOUT_HISTORY, WITH_HISTORY = "without history", "with history"


@dataclass(frozen=True)
class MovingBallConfig:
    """Sizes of the training."""

    steps: int
    time: int = 8
    batch_size: int = 64
    hidden_size: int = 48


FULL, QUICK = MovingBallConfig(steps=1200), MovingBallConfig(steps=250)


def ball_paths(num_paths: int, time: int, generator: torch.Generator) -> Float[Tensor, "paths time 2"]:
    """Straight paths at constant speed, with random positions and directions, in a box of side 2 around
    the origin.
    """
    angle = 2 * math.pi * torch.rand(num_paths, 1, generator=generator)
    speed = 0.05 + 0.1 * torch.rand(num_paths, 1, generator=generator)
    velocity = speed * torch.cat([angle.cos(), angle.sin()], dim=1)  # (paths, 2)
    middle = 1.2 * torch.rand(num_paths, 2, generator=generator) - 0.6
    moments = torch.arange(time) - (time - 1) / 2
    return middle.unsqueeze(1) + moments.view(1, -1, 1) * velocity.unsqueeze(1)


def crossing_paths(time: int) -> Float[Tensor, "2 time 2"]:
    """Two balls that reach the same position at the same time, the second-to-last step, from different
    sides.
    """
    velocities = torch.tensor([[0.11, 0.06], [-0.11, 0.06]])
    moments = torch.arange(time) - (time - 2)
    return moments.view(1, -1, 1) * velocities.unsqueeze(1)


@studies.register("moving_ball")
def moving_ball(*, seed: int, quick: bool) -> Finding:
    """The same task for a network that sees only the current position and for one that sees all positions
    so far.
    """
    config = QUICK if quick else FULL
    trained = {name: _train(name, config, seed) for name in (WITHOUT_HISTORY, WITH_HISTORY)}
    errors = {name: run.error for name, run in trained.items()}
    crossing = crossing_paths(config.time)
    futures = crossing[:, -1]
    guesses = {name: _predict(run.network, crossing[:, :-1])[:, -1] for name, run in trained.items()}
    apart = {name: _distance(guess[0], guess[1]).item() for name, guess in guesses.items()}
    worst = {name: _distance(guess, futures).max().item() for name, guess in guesses.items()}
    true_gap = _distance(futures[0], futures[1]).item()
    return Finding(
        claim=(
            "The next position follows from the past positions; from the current position alone, it is"
            " ambiguous."
        ),
        conclusion=(
            f"The error of the next position is {errors[WITHOUT_HISTORY]:.3f} without history and"
            f" {errors[WITH_HISTORY]:.3f} with it. Where two paths cross, their true futures are {true_gap:.3f}"
            f" apart; the predictions are {apart[WITHOUT_HISTORY]:.3f} apart without history and {apart[WITH_HISTORY]:.3f}"
            " with it."
        ),
        rows=[
            {
                "network": name,
                "mean error": errors[name],
                "answers apart at the crossing": apart[name],
                "worst error at the crossing": worst[name],
            }
            for name in trained
        ],
        curves=[
            LineChart(
                "Loss",
                "update",
                "squared error",
                [LineSeries(name, range(len(run.losses)), run.losses) for name, run in trained.items()],
                log_y=True,
            )
        ],
        figures=[draw_trajectories(_trajectory_plot(crossing, guesses), ident="paths")],
        notes=[
            (
                "A ball moves about 0.1 per step. Errors are distances, measured from the third step on,"
                " when the direction of a path is known."
            )
        ],
    )


@dataclass(frozen=True)
class _TrainedNetwork:
    """A network after training, with its losses and its mean error on new paths."""

    network: nn.Module
    losses: list[float]
    error: float


def _train(name: str, config: MovingBallConfig, seed: int) -> _TrainedNetwork:
    with seeded(seed, "moving ball") as generator:
        network = (
            PerStepModel(2, config.hidden_size, 2)
            if name == WITHOUT_HISTORY
            else SmallRecurrentModel(2, cell_maker("gru"), config.hidden_size, 2)
        )

        def loss() -> Tensor:
            paths = ball_paths(config.batch_size, config.time, generator)
            return (paths[:, :-1] + network(paths[:, :-1]) - paths[:, 1:]).square().mean()

        losses = train_small(network, loss, steps=config.steps).losses
        paths = ball_paths(1000, config.time, generator)
    distances = _distance(_predict(network, paths[:, :-1]), paths[:, 1:])
    return _TrainedNetwork(network, losses, distances[:, 2:].mean().item())  # from the third step on


@torch.no_grad()
def _predict(network: nn.Module, positions: Float[Tensor, "paths time 2"]) -> Float[Tensor, "paths time 2"]:
    """The predicted next position after every step; both networks predict the displacement."""
    return positions + network(positions)


def _distance(first: Float[Tensor, "*any 2"], second: Float[Tensor, "*any 2"]) -> Float[Tensor, "*any"]:
    return (first - second).norm(dim=-1)


def _trajectory_plot(crossing: Tensor, guesses: dict[str, Tensor]) -> TrajectoryPlot:
    def points(positions: Tensor) -> list[tuple[float, float]]:
        return [(float(x), float(y)) for x, y in positions]

    trajectories = [
        Trajectory(f"ball {number}", points(path[:-1]), connected=True)
        for number, path in enumerate(crossing, start=1)
    ]
    trajectories.append(Trajectory("true next positions", points(crossing[:, -1]), shape="ring"))
    trajectories += [
        Trajectory(f"answers {name}", points(guess), shape="cross") for name, guess in guesses.items()
    ]
    return TrajectoryPlot("Two pasts, one present, two futures", trajectories)

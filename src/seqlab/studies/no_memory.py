"""The limits of networks without memory: one answer per step from that step alone, or one answer from a
fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_models import FixedWindowModel, PerStepModel, SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_training import seeded, train_small

WINDOW_STEPS = 6
"""Steps that the fixed-size classifier sees."""


@dataclass(frozen=True)
class NoMemoryConfig:
    """Sizes of the training."""

    steps: int
    lengths: tuple[int, ...]
    batch_size: int = 64
    hidden_size: int = 24


FULL, QUICK = NoMemoryConfig(steps=400, lengths=(4, 6, 7, 10, 16)), NoMemoryConfig(steps=150, lengths=(6, 9))


def changes(
    batch_size: int, time: int, generator: torch.Generator
) -> tuple[Float[Tensor, "batch time 1"], Float[Tensor, "batch time"]]:
    """One label per step: whether this ±1 differs from the previous one. (The first step is compared with
    +1.)
    """
    signs = 1.0 - 2.0 * torch.randint(2, (batch_size, time), generator=generator)
    before = torch.cat([torch.ones(batch_size, 1), signs[:, :-1]], dim=1)
    return signs.unsqueeze(-1), (signs != before).float()


def first_signs(
    batch_size: int, time: int, generator: torch.Generator
) -> tuple[Float[Tensor, "batch time 2"], Float[Tensor, "batch"]]:
    """One label per sequence: whether the first sign is a plus.

    Feature 0 is the sign, feature 1 marks the first step.
    """
    signs = 1.0 - 2.0 * torch.randint(2, (batch_size, time), generator=generator)
    is_first = torch.zeros(batch_size, time)
    is_first[:, 0] = 1.0
    return torch.stack([signs, is_first], dim=-1), (signs[:, 0] > 0).float()


@studies.register("no_memory")
def no_memory(*, seed: int, quick: bool) -> Finding:
    """Both baselines compared with a recurrent network, each on its own task."""
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    for name, network in (("y_t = f(x_t)", PerStepModel), ("recurrent (gru)", SmallRecurrentModel)):
        rows.append(
            _row(
                name,
                "does the sign change?",
                12,
                _score_changes(network is SmallRecurrentModel, config, seed=seed),
            )
        )
    for length in config.lengths:
        for is_recurrent in (False, True):
            name = "recurrent (gru)" if is_recurrent else f"fixed size, {WINDOW_STEPS} steps"
            rows.append(
                _row(
                    name,
                    "was the first sign a plus?",
                    length,
                    _score_first(is_recurrent, length, config, seed=seed),
                )
            )
    firsts = [row for row in rows if row["task"] == "was the first sign a plus?"]
    names = dict.fromkeys(str(row["network"]) for row in firsts)
    series = [
        LineSeries(name, config.lengths, [float(row["accuracy"]) for row in firsts if row["network"] == name])
        for name in names
    ]
    too_long = [row for row in firsts if int(row["length"]) > WINDOW_STEPS]
    fixed, recurrent = float(too_long[-2]["accuracy"]), float(too_long[-1]["accuracy"])
    return Finding(
        claim="A network without memory uses only what it sees now; anything further back, it has to guess.",
        conclusion=(
            f"Step by step, the memoryless network is right in {rows[0]['accuracy']:.0%} of all cases and"
            f" the recurrent one in {rows[1]['accuracy']:.0%}. A classifier with a window of"
            f" {WINDOW_STEPS} steps is right for {fixed:.0%} of the sequences of {too_long[-1]['length']}"
            f" steps, the recurrent one for {recurrent:.0%}."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Was the first sign a plus?",
                "length of the sequence",
                "accuracy",
                series,
                references=[ReferenceLine("chance", 0.5)],
            )
        ],
        notes=["Signs are random, so chance is 50%."],
    )


def _row(network: str, task: str, length: int, accuracy: float) -> dict[str, Value]:
    return {"network": network, "task": task, "length": length, "accuracy": accuracy}


def _score_changes(is_recurrent: bool, config: NoMemoryConfig, *, seed: int) -> float:
    with seeded(seed, "changes") as generator:
        network = (
            SmallRecurrentModel(1, cell_maker("gru"), config.hidden_size, 1)
            if is_recurrent
            else PerStepModel(1, config.hidden_size, 1)
        )
        return _train_and_score(
            network,
            lambda steps: network(steps).squeeze(-1),
            lambda number: changes(number, 12, generator),
            config,
        )


def _score_first(is_recurrent: bool, length: int, config: NoMemoryConfig, *, seed: int) -> float:
    with seeded(seed, "first", length) as generator:
        network: nn.Module
        if is_recurrent:
            network = SmallRecurrentModel(2, cell_maker("gru", keep_bias=2.0), config.hidden_size, 1)
        else:
            network = FixedWindowModel(2, 2 * config.hidden_size, num_steps=WINDOW_STEPS)

        def logits(steps: Tensor) -> Tensor:
            return network(steps)[:, -1, 0] if is_recurrent else network(steps)

        return _train_and_score(
            network, logits, lambda number: first_signs(number, length, generator), config
        )


def _train_and_score(
    network: nn.Module,
    logits: Callable[[Tensor], Tensor],
    draw: Callable[[int], tuple[Tensor, Tensor]],
    config: NoMemoryConfig,
) -> float:
    def loss() -> Tensor:
        steps, labels = draw(config.batch_size)
        return F.binary_cross_entropy_with_logits(logits(steps), labels)

    train_small(network, loss, steps=config.steps)
    steps, labels = draw(1000)
    with torch.no_grad():
        return ((logits(steps) > 0) == (labels > 0.5)).float().mean().item()

"""The training loop of the studies: loss, optimizer, gradient clipping, and learning curves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqlab.core.seeds import derive
from seqlab.pages.report_data import LineSeries
from seqlab.training.gradients import clip_by_norm
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.base import Optimizer
from seqlab.training.optimizers.parameter_groups import set_learning_rate

NUM_CURVE_POINTS = 60
"""Points of a loss curve."""


@dataclass(frozen=True)
class TrainingRecord:
    """The training history, by update.

    Training stops when the loss is no longer finite, and the rest is missing.
    """

    losses: list[float]
    norms: list[float]
    """‖g‖ before clipping."""
    seconds: float
    """Processor time."""

    @property
    def diverged(self) -> bool:
        return not (self.losses and math.isfinite(self.losses[-1]) and math.isfinite(self.norms[-1]))


@contextmanager
def seeded(seed: int, *names: str | int) -> Iterator[torch.Generator]:
    """Seed the initialization inside this context by the seed and the given words, without affecting other
    random numbers.

    Yields a generator for data.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "weights", *names))
        yield torch.Generator().manual_seed(derive(seed, "data", *names))


def train_small(
    model: nn.Module,
    loss: Callable[[], Tensor],
    *,
    steps: int,
    learning_rate: float = 0.01,
    clip_norm: float = 1.0,
    build_optimizer: Callable[[list[nn.Parameter]], Optimizer] = AdamW,
    warm_up: int = 0,
    constant: bool = False,
    callback: Callable[[int], None] | None = None,
) -> TrainingRecord:
    """Train for `steps` updates, each on a new batch drawn by `loss`, with AdamW unless another optimizer is
    given.

    The learning rate rises linearly over the first `warm_up` updates; then it decays to a tenth along half a
    cosine, or stays the same if `constant`. `callback` is called after each update with its number, from 1,
    while the parameters still hold the clipped gradients.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = build_optimizer(parameters)
    losses, norms = [], []
    start_time = time.process_time()
    for step in range(steps):
        model.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        losses.append(value.item())
        norms.append(clip_by_norm(parameters, clip_norm))
        if not (math.isfinite(losses[-1]) and math.isfinite(norms[-1])):
            break
        warmup_factor = min(1.0, (step + 1) / (warm_up + 1))
        decay_factor = 1.0 if constant else 0.55 + 0.45 * math.cos(math.pi * step / steps)
        set_learning_rate(optimizer, learning_rate * warmup_factor * decay_factor)
        optimizer.step()
        if callback is not None:
            callback(step + 1)
    return TrainingRecord(losses, norms, time.process_time() - start_time)


def loss_series(name: str, training: TrainingRecord) -> LineSeries:
    """The training loss as a chart series: means over consecutive updates, each at the last of them."""
    every = -(-len(training.losses) // NUM_CURVE_POINTS)
    chunks = [training.losses[start : start + every] for start in range(0, len(training.losses), every)]
    return LineSeries(
        name,
        [min((index + 1) * every, len(training.losses)) for index in range(len(chunks))],
        [sum(chunk) / len(chunk) for chunk in chunks],
    )

"""The training loop of the studies: a loss, an optimizer, a clipping norm, and the curves that come of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from seqlab.core.seeds import derive
from seqlab.training.clipping import clip_by_norm
from seqlab.training.optimizer import AdamW

NO_DECAY = 0.0


@dataclass(frozen=True)
class Training:
    """What happened, update by update. Where the loss stops being finite, training stops and the rest is missing."""

    losses: list[float]
    norms: list[float]
    """‖g‖ before clipping."""
    seconds: float
    """Processor time."""

    @property
    def diverged(self) -> bool:
        return not (self.losses and math.isfinite(self.losses[-1]) and math.isfinite(self.norms[-1]))


@contextmanager
def seeded(seed: int, *words: str | int) -> Iterator[torch.Generator]:
    """Weights made inside start the same for the same words, and what others draw is not disturbed. Gives a generator for data."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "weights", *words))
        yield torch.Generator().manual_seed(derive(seed, "data", *words))


def train_small(
    model: nn.Module,
    loss: Callable[[], Tensor],
    *,
    steps: int,
    rate: float = 0.01,
    clip: float = 1.0,
    optimizer: Literal["adamw", "sgd"] = "adamw",
    warm_up: int = 0,
) -> Training:
    """`steps` updates, each on a new batch that `loss` draws.

    The rate falls to a tenth along half a cosine for AdamW and stays for SGD. AdamW's rises in equal parts over the first `warm_up` updates.
    """
    parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}
    adamw = AdamW(parameters, dict.fromkeys(parameters, NO_DECAY))
    losses, norms = [], []
    begin = time.process_time()
    for step in range(steps):
        model.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        losses.append(value.item())
        norms.append(clip_by_norm(parameters.values(), clip))
        if not (math.isfinite(losses[-1]) and math.isfinite(norms[-1])):
            break
        if optimizer == "sgd":
            _descend(parameters.values(), rate)
        else:
            rising = min(1.0, (step + 1) / (warm_up + 1))
            adamw.step(rate * rising * (0.55 + 0.45 * math.cos(math.pi * step / steps)))
    return Training(losses, norms, time.process_time() - begin)


@torch.no_grad()
def _descend(parameters: Iterable[nn.Parameter], rate: float) -> None:
    """w <- w - rate · g."""
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.sub_(rate * parameter.grad)

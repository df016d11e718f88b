"""The learning-rate range test: one short training in which the learning rate grows from update to update.

    rate_i = low · (high / low)^(i / (n - 1))        update i = 0 … n - 1

A rate that is too low changes nothing, a good one lowers the loss, and one that is too high raises it again.

Paper: Smith 2017, "Cyclical Learning Rates for Training Neural Networks", arXiv:1506.01186, section 3.3; with rates
that grow exponentially as in fastai's `lr_find`.
"""

from __future__ import annotations

import copy
import math
from time import perf_counter

import torch
from torch import nn

from seqlab.batches.loader import Cursor
from seqlab.training.base import Callback, Carry, NullCallback, StepReport, Trainable
from seqlab.training.checkpoints.snapshot import capture_random_state, restore_random_state
from seqlab.training.gradients import accumulate_gradients
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.rate_curve import RateCurve
from seqlab.training.settings import TrainingSettings

LOWEST, HIGHEST = 1e-7, 10.0
UPDATES = 120
STOP = 4.0
"""The test ends when the running mean of the loss is this many times its lowest value."""
MOMENTUM = 0.7
"""Share of the running mean that the next loss leaves as it is."""


def run_range_test(
    model: nn.Module,
    objective: Trainable,
    settings: TrainingSettings,
    *,
    device: torch.device,
    low: float = LOWEST,
    high: float = HIGHEST,
    updates: int = UPDATES,
    seed: int = 0,
    layer_decay: float = 1.0,
    callback: Callback | None = None,
) -> RateCurve:
    """Train a copy of the model; the model, the data order and the random numbers are left as they were.

    seed: fixes dropout and everything else that is drawn.
    """
    before = capture_random_state(device)
    try:
        torch.manual_seed(seed)
        trial = copy.deepcopy(model).to(device).train()
        return _measure(
            trial,
            objective,
            settings,
            exponential_rates(low, high, updates),
            device=device,
            layer_decay=layer_decay,
            callback=callback or NullCallback(),
        )
    finally:
        restore_random_state(before, device)


def exponential_rates(low: float, high: float, count: int) -> list[float]:
    """
    >>> [round(rate, 6) for rate in exponential_rates(1e-4, 1.0, 5)]
    [0.0001, 0.001, 0.01, 0.1, 1.0]
    """
    return [low * (high / low) ** (number / (count - 1)) for number in range(count)]


def _measure(
    model: nn.Module,
    objective: Trainable,
    settings: TrainingSettings,
    rates: list[float],
    *,
    device: torch.device,
    layer_decay: float,
    callback: Callback,
) -> RateCurve:
    optimizer = build_optimizer(model, settings, layer_decay=layer_decay)
    loader = objective.loader(Cursor())
    carry: Carry = ()
    losses: list[float] = []
    running = lowest = math.inf
    clock = perf_counter()
    for step, rate in enumerate(rates):
        epoch = loader.cursor.epoch
        batches = [loader.take().to(device) for _ in range(settings.gradient_accumulation)]
        backward = accumulate_gradients(model, objective, batches, settings, step=step, carry=carry)
        if not (math.isfinite(backward.mean) and math.isfinite(backward.norm)):
            break
        losses.append(backward.mean)
        left = (perf_counter() - clock) / (step + 1) * (len(rates) - step - 1)
        callback.on_step(StepReport(step + 1, len(rates), epoch, backward.mean, rate, left))
        running = backward.mean if step == 0 else MOMENTUM * running + (1 - MOMENTUM) * backward.mean
        lowest = min(lowest, running)
        if running > STOP * lowest:
            break
        set_learning_rate(optimizer, rate)
        optimizer.step()
        carry = backward.loss.carry
    return RateCurve(tuple(rates[: len(losses)]), tuple(losses))

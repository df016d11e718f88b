"""Forecast the cost of a run from a few real steps on a copy of the model."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import nn

from seqlab.batches.loader import Cursor
from seqlab.core.memory import peak_memory
from seqlab.training.base import Carry, Trainable
from seqlab.training.checkpoints.snapshot import capture_random_state, restore_random_state
from seqlab.training.gradients import accumulate_gradients
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.settings import TrainingSettings

FEWEST, MOST = 3, 12
LONGEST_SECONDS = 2.0


@dataclass(frozen=True)
class Forecast:
    """Seconds per update and per validation (of both averaged and last weights if the run averages), number
    of parameters, and peak memory in bytes (None if the system does not report it).
    """

    step_seconds: float
    validation_seconds: float
    steps_per_epoch: int
    num_parameters: int
    peak_memory: int | None


def measure(
    model: nn.Module, objective: Trainable, settings: TrainingSettings, *, device: torch.device
) -> Forecast:
    """Train a copy of the model for a few steps.

    The model, the order of the data and the random state of the run are unchanged.
    """
    before = capture_random_state(device)
    trial = copy.deepcopy(model).to(device).train()
    optimizer = build_optimizer(trial, settings)
    set_learning_rate(optimizer, settings.learning_rate)
    loader = objective.loader(Cursor())
    carry: Carry = ()
    times: list[float] = []
    started = perf_counter()
    while len(times) < FEWEST or (len(times) < MOST and perf_counter() - started < LONGEST_SECONDS):
        clock = perf_counter()
        batches = [loader.take().to(device) for _ in range(settings.gradient_accumulation)]
        carry = accumulate_gradients(
            trial, objective, batches, settings, step=len(times), carry=carry
        ).loss.carry
        optimizer.step()
        times.append(perf_counter() - clock)
    validation_seconds = time_validation(trial, objective) * (2 if settings.averages_weights else 1)
    restore_random_state(before, device)
    usual = sorted(times[1:])  # the first step also allocates and plans
    return Forecast(
        step_seconds=usual[len(usual) // 2],
        validation_seconds=validation_seconds,
        steps_per_epoch=max(1, loader.sampler.batches_in(0) // settings.gradient_accumulation),
        num_parameters=sum(parameter.numel() for parameter in model.parameters()),
        peak_memory=peak_memory(),
    )


def time_validation(model: nn.Module, objective: Trainable) -> float:
    """Time one validation in seconds; leaves the model in evaluation mode."""
    clock = perf_counter()
    model.eval()
    with torch.inference_mode():
        objective.validate(model)
    return perf_counter() - clock

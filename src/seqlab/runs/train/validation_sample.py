"""How many validation rows the validations inside training use: all, unless a time budget is too short for that."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from seqlab.runs.train.held_out_sample import describe_part, draw, unit_of
from seqlab.runs.train.scoring_forecast import MEASURED_AMONG, fit_line
from seqlab.sources.base import Source
from seqlab.tasks.objective import Objective
from seqlab.training.checkpoints.snapshot import capture_random_state, restore_random_state
from seqlab.training.forecast import time_validation

SHARE = 0.02
"""One validation takes at most this share of a time budget, so that several fit."""
SIZES = {"rows": (50, 200, 800), "characters": (5_000, 20_000, 80_000)}
"""Parts of the validation data that are validated to measure the speed, until one takes long enough."""
FEWEST = {"rows": 200, "characters": 20_000}
"""A smaller sample says too little about which weights are best."""


def affordable_rows(
    objective: Objective[Any, Any], source: Source, size: int, model: nn.Module, *, device: torch.device
) -> int:
    """The rows, or characters of a text, of a validation that the time budget allows; 0 for all of them.

    size: what all of them are. The model and the random numbers are left as they were.
    """
    training, unit = objective.recipe.training, unit_of(source)
    if not training.minutes or size <= FEWEST[unit]:
        return 0
    allowed = training.minutes * 60 * SHARE / (2 if training.averages_weights else 1)
    before, was_training = capture_random_state(device), model.training
    model.to(device)
    times: list[tuple[int, float]] = []
    for amount in (part for part in SIZES[unit] if part < size):
        sample = draw(source, amount, seed=training.seed, among=MEASURED_AMONG)
        times.append((amount, time_validation(model, _validating_on(objective, sample))))
        if times[-1][1] > allowed / 4:
            break
    model.train(was_training)
    restore_random_state(before, device)
    fixed, seconds = fit_line(times)
    if fixed + seconds * size <= allowed:
        return 0
    affordable = max(FEWEST[unit], int((allowed - fixed) / seconds))
    return affordable if affordable < size else 0


def validate_on(objective: Objective[Any, Any], source: Source, rows: int) -> Objective[Any, Any]:
    """The same objective with validations on so many rows, drawn by the seed; 0 for all of them."""
    if not rows:
        return objective
    return _validating_on(objective, draw(source, rows, seed=objective.recipe.training.seed))


def describe_sample(source: Source, rows: int, size: int) -> list[str]:
    """What the user is told about it."""
    if not rows:
        return []
    part = describe_part(source, rows, size)
    return [f"validation during training uses {part}, to keep the time budget; more: --minutes NUMBER"]


def _validating_on(objective: Objective[Any, Any], sample: Source) -> Objective[Any, Any]:
    valid = objective.codec.encode_split("valid", sample)
    return objective.with_splits({**objective.splits, "valid": valid})

"""Choose how many rows validations during training use: all, unless a time budget is too short."""

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
"""Sample sizes that are validated to measure the speed, until one takes long enough."""
FEWEST = {"rows": 200, "characters": 20_000}
"""A smaller sample is too imprecise to select the best weights."""


def affordable_rows(
    objective: Objective[Any, Any], source: Source, size: int, model: nn.Module, *, device: torch.device
) -> int:
    """Return how many rows, or characters of a text, the time budget allows per validation; 0 for all of them.

    size: the size of the whole source. The model and the random state do not change.
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
    """Return the objective with validations on a sample of this many rows, drawn with the seed; 0 for all."""
    if not rows:
        return objective
    return _validating_on(objective, draw(source, rows, seed=objective.recipe.training.seed))


def describe_sample(source: Source, rows: int, size: int) -> list[str]:
    """Describe the sample to the user."""
    if not rows:
        return []
    part = describe_part(source, rows, size)
    return [
        f"validation during training uses {part}, to stay within the time budget; for more: --minutes NUMBER"
    ]


def _validating_on(objective: Objective[Any, Any], sample: Source) -> Objective[Any, Any]:
    valid = objective.codec.encode_split("valid", sample)
    return objective.with_splits({**objective.splits, "valid": valid})

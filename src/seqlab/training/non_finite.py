"""What to say when a number is no number any more."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.core.errors import TrainingError
from seqlab.training.base import Validation
from seqlab.training.finite import non_finite_names
from seqlab.training.gradients import Backward
from seqlab.training.settings import TrainingSettings


def first_broken(model: nn.Module) -> str | None:
    """The name of the first weights that are not finite."""
    return next(non_finite_names(model.named_parameters()), None)


def explain_update(backward: Backward, batches: Sequence[Batch], model: nn.Module) -> str:
    """Why an update cannot be made, from the cause to the effect."""
    problem = (
        f"the loss is {backward.mean}"
        if not math.isfinite(backward.mean)
        else f"the norm of the gradient is {backward.norm}"
    )
    for batch in batches:
        if batch.inputs.is_floating_point() and not bool(torch.isfinite(batch.inputs).all()):
            rows = (~torch.isfinite(batch.inputs)).flatten(1).any(dim=1).nonzero().flatten().tolist()
            return f"{problem}: inputs {', '.join(map(str, rows[:5]))} of the batch are not finite"
    if broken := first_broken(model):
        return f"{problem}: the weights '{broken}' are not finite"
    return f"{problem}: numbers grew too large inside the network"


def explain_validation(validation: Validation, model: nn.Module) -> str | None:
    """Why a validated model must not be kept; None when all is well."""
    if broken := first_broken(model):
        return f"the weights '{broken}' are not finite after the update"
    facts = {"the validation": validation.value, **validation.facts}
    bad = next(
        (name for name, value in facts.items() if isinstance(value, float) and not math.isfinite(value)), None
    )
    return f"{bad.replace('_', ' ')} is {facts[bad]}" if bad else None


def not_finite(
    reason: str, *, step: int, rows: str, settings: TrainingSettings, saved_step: int
) -> TrainingError:
    """The error that ends a run, with what to try."""
    return TrainingError(
        f"step {step}: {reason}."
        f" Stopped{f' before the update by the {rows}' if rows else ' without saving this step'}.",
        cure=(
            f"Try training.learning_rate={settings.learning_rate / 10:g} or a smaller training.clip_norm in a"
            f" new run, and look at those rows.\n  The checkpoint of step {saved_step} is whole."
        ),
    )

"""Explain where NaN or infinity comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.core.errors import TrainingError
from seqlab.training.base import Validation
from seqlab.training.finite import non_finite_names
from seqlab.training.gradients import BackwardResult
from seqlab.training.settings import TrainingSettings


def first_broken(model: nn.Module) -> str | None:
    """Return the name of the first parameter that is not finite."""
    return next(non_finite_names(model.named_parameters()), None)


def explain_update(backward: BackwardResult, batches: Sequence[Batch], model: nn.Module) -> str:
    """Explain why an update is not possible, by its most likely cause."""
    problem = (
        f"the loss is {backward.mean}"
        if not math.isfinite(backward.mean)
        else f"the gradient norm is {backward.norm}"
    )
    for batch in batches:
        if batch.inputs.is_floating_point() and not bool(torch.isfinite(batch.inputs).all()):
            rows = (~torch.isfinite(batch.inputs)).flatten(1).any(dim=1).nonzero().flatten().tolist()
            return f"{problem}: inputs {', '.join(map(str, rows[:5]))} of the batch are not finite"
    if broken := first_broken(model):
        return f"{problem}: the parameter '{broken}' is not finite"
    return f"{problem}: activations or gradients overflowed inside the network"


def explain_validation(validation: Validation, model: nn.Module) -> str | None:
    """Explain why a validated model must not be saved; None if it can be."""
    if broken := first_broken(model):
        return f"the parameter '{broken}' is not finite after the update"
    facts = {"the validation score": validation.value, **validation.facts}
    bad = next(
        (name for name, value in facts.items() if isinstance(value, float) and not math.isfinite(value)), None
    )
    return f"{bad.replace('_', ' ')} is {facts[bad]}" if bad else None


def not_finite(
    reason: str, *, step: int, rows: str, settings: TrainingSettings, saved_step: int
) -> TrainingError:
    """Return the error that ends a run, with settings to try."""
    return TrainingError(
        f"step {step}: {reason}."
        f" Stopped{f' before the update by the {rows}' if rows else ' without saving this step'}.",
        cure=(
            f"Try training.learning_rate={settings.learning_rate / 10:g} or a smaller training.clip_norm in a"
            f" new run, and check those rows.\n  The checkpoint of step {saved_step} is intact."
        ),
    )

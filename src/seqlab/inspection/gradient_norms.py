"""Gradient norms by batch, and the clipping norm they suggest, for any model or for a finished run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.core.errors import RunError
from seqlab.training.clip_advice import ClipAdvice, suggest_clip
from seqlab.training.gradients import clip_by_norm
from seqlab.training.journal import read_journal


def gradient_norms(
    model: nn.Module, batches: Iterable[Any], loss: Callable[[nn.Module, Any], Tensor]
) -> list[float]:
    """‖g‖ over all parameters for each batch.

    Nothing is updated, and the existing gradients of the parameters are restored afterwards.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    before = [parameter.grad for parameter in parameters]
    norms = []
    try:
        for batch in batches:
            model.zero_grad(set_to_none=True)
            with torch.enable_grad():
                loss(model, batch).backward()
            norms.append(clip_by_norm(parameters, limit=0.0))
    finally:
        for parameter, gradient in zip(parameters, before, strict=True):
            parameter.grad = gradient
    return norms


def suggest_clip_from_journal(journal: Path, *, clip_norm: float = 0.0) -> ClipAdvice:
    """The gradient norms from the journal of a run, before clipping.

    `clip_norm` is the run's own `training.clip_norm`.
    """
    norms = [event.get("gradient_norm") for event in read_journal(journal) if event["event"] == "step"]
    if not any(norm is not None for norm in norms):
        raise RunError(
            "contains no gradient norms.",
            where=str(journal),
            cure="Gradient norms are logged from the first training step on.",
        )
    return suggest_clip(norms, limit=clip_norm)

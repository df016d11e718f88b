"""From a batch to gradients: what every update begins with."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.training.base import BatchLoss, Carry, Trainable
from seqlab.training.clipping import clip_by_norm
from seqlab.training.settings import TrainingSettings


@dataclass(frozen=True)
class Backward:
    """What came of a batch: its loss, the mean over its targets, and the norm of the gradient before clipping."""

    loss: BatchLoss
    mean: float
    norm: float


def go_backward(model: nn.Module, task: Trainable, batch: Batch, carry: Carry, settings: TrainingSettings) -> Backward:
    """Leave the clipped gradient of the mean loss in the parameters."""
    model.zero_grad(set_to_none=True)
    with torch.autocast(batch.inputs.device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"):
        loss = task.loss(model, batch, carry)
    mean = loss.total / loss.count
    mean.backward()
    return Backward(loss, mean.item(), clip_by_norm(model.parameters(), settings.clip_norm))

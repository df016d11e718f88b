"""Forward, backward and gradient clipping: the first part of every update."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.training.base import BatchLoss, Carry, Trainable
from seqlab.training.settings import TrainingSettings


@dataclass(frozen=True)
class BackwardResult:
    """The result of the backward pass of an update: the loss of its batches, the mean over all targets, and
    the gradient norm before clipping.
    """

    loss: BatchLoss
    mean: float
    norm: float


def accumulate_gradients(
    model: nn.Module,
    objective: Trainable,
    batches: Sequence[Batch],
    settings: TrainingSettings,
    *,
    step: int,
    carry: Carry,
) -> BackwardResult:
    """Compute the clipped gradient of the mean loss and store it in the parameters.

    step: the 0-based number of the update.  carry: the state carried over from the previous update.

    With several batches, every target counts equally, no matter how many its batch has: the gradients of
    the summed losses are added, then divided by the total number of targets. Without any targets the loss
    and its gradient are 0, the value of an empty sum.
    """
    model.zero_grad(set_to_none=True)
    losses: list[BatchLoss] = []
    for batch in batches:
        with torch.autocast(
            batch.inputs.device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"
        ):
            loss = objective.loss(model, batch, step=step, carry=losses[-1].carry if losses else carry)
        (loss.total / (loss.count or 1) if len(batches) == 1 else loss.total).backward()
        losses.append(replace(loss, total=loss.total.detach()))
    summed = sum_losses(losses)
    count = summed.count or 1
    if len(batches) > 1:
        torch._foreach_div_(
            [parameter.grad for parameter in model.parameters() if parameter.grad is not None], count
        )
    mean = summed.total / count
    return BackwardResult(summed, mean.item(), clip_by_norm(model.parameters(), settings.clip_norm))


def sum_losses(losses: Sequence[BatchLoss]) -> BatchLoss:
    """Sum the losses of consecutive batches."""
    if len(losses) == 1:
        return losses[0]
    correct = [loss.correct for loss in losses]
    return BatchLoss(
        torch.stack([loss.total for loss in losses]).sum(),
        sum(loss.count for loss in losses),
        None if None in correct else sum(filter(None, correct)),
        losses[-1].carry,
        sum(int(loss.count) if loss.seen is None else loss.seen for loss in losses),
    )


def clip_by_norm(parameters: Iterable[nn.Parameter], limit: float) -> float:
    """g <- c g / ‖g‖ if ‖g‖ > c, over all gradients as one vector. Returns ‖g‖ before clipping; a limit of 0
    only measures.

    Paper: Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", arXiv:1211.5063,
    algorithm 1.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = float(nn.utils.get_total_norm(gradients))
    if limit and limit < norm < math.inf:
        torch._foreach_mul_(gradients, limit / norm)
    return norm

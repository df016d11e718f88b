"""The backward pass of a cell whose only state is the hidden state, which all its gates see."""

from __future__ import annotations

import torch
from torch import Tensor

from seqlab.cells.step_layout import StepLayout


def backward_steps(
    gradient: Tensor, arriving: Tensor, carried: Tensor, keep: Tensor, recurrent: Tensor, layout: StepLayout
) -> None:
    """For hidden' = keep ⊙ hidden + …, where the gradient of every gate is a local derivative times d
    hidden'. Per step

        d hidden' = d output + carried
        d gates   = local ⊙ d hidden'
        carried   = keep ⊙ d hidden' + d gates U

    Everything is done in place: `gradient` (rows, gates, hidden) arrives as local and leaves as d gates,
    `arriving` (rows, hidden) arrives as d output and leaves as d hidden', `carried` (batch, hidden) arrives
    as the gradient of the last state and leaves as that of the first.
    """
    flat = gradient.flatten(1)
    for begin, end, live in reversed(layout.steps):
        d_hidden, carry = arriving[begin:end], carried[:live]
        d_hidden += carry
        gradient[begin:end].mul_(d_hidden.unsqueeze(1))
        torch.mul(d_hidden, keep[begin:end], out=carry).addmm_(flat[begin:end], recurrent)

"""The plain cell's whole scan, with backpropagation through time written out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, no_gradients, weight_gradients
from seqlab.cells.step_layout import StepLayout

IN_PLACE_ACTIVATIONS: dict[str, Callable[[Tensor, Tensor | None], Tensor]] = {
    "tanh": lambda sums, _: sums.tanh_(),
    "sigmoid": lambda sums, _: sums.sigmoid_(),
    "relu": lambda sums, _: sums.relu_(),
    "identity": lambda sums, _: sums,
}


class RNNScan(torch.autograd.Function):
    """rows, input_weight, recurrent, bias, hidden, shift, activate, derivative, layout -> outputs, last
    hidden.

    activate(sums, shift) activates the sums in place; slope(outputs) is its derivative, from the outputs
    alone. `shift` is the vector of modReLU (see orthogonal_rnn.py), else None. Forward: one product for the
    inputs of all steps, then one product and one activation per step; only the outputs are stored. Backward:
    the slopes of all steps in bulk, then per step

        d hidden = d output + carried            d sums = slope ⊙ d hidden            carried = d sums U

    and two products for the weights of all steps.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        input_weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        shift: Tensor | None,
        activate: Callable[[Tensor, Tensor | None], Tensor],
        derivative: Callable[[Tensor], Tensor],
        layout: StepLayout,
    ) -> tuple[Tensor, Tensor]:
        outputs = (
            rows.mm(input_weight.t()) if bias is None else torch.addmm(bias, rows, input_weight.t())
        )  # (rows, hidden)
        last, turned = hidden.clone(), recurrent.t()
        for begin, end, live in layout.steps:
            state, sums = last[:live], outputs[begin:end]
            activate(sums.addmm_(state, turned), shift)
            state.copy_(sums)
        ctx.save_for_backward(rows, input_weight, recurrent, bias, hidden, outputs)
        ctx.derivative, ctx.layout = derivative, layout
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, input_weight, recurrent, bias, hidden, outputs = ctx.saved_tensors
        layout = ctx.layout
        gradient = ctx.derivative(outputs)  # first the slopes, then the gradient of the sums
        carried = d_last.clone()
        for begin, end, live in reversed(layout.steps):
            d_hidden, local = carried[:live], gradient[begin:end]
            d_hidden += d_outputs[begin:end]
            local.mul_(d_hidden)
            torch.mm(local, recurrent, out=d_hidden)
        weights = weight_gradients(
            ctx, gradient, rows, (layout, hidden, outputs), (input_weight, recurrent, bias)
        )
        d_shift = (gradient * outputs.sign()).sum(dim=0) if ctx.needs_input_grad[5] else None
        return (*weights, carried, d_shift, None, None, None)


def modrelu_(sums: Tensor, shift: Tensor | None) -> Tensor:
    """modReLU in place: sign(s) relu(|s| + shift)."""
    assert shift is not None
    return sums.copy_(sums.sign() * (sums.abs() + shift).relu_())


def modrelu_derivative(outputs: Tensor) -> Tensor:
    return (outputs != 0).to(outputs.dtype)

"""The single-gate cell's whole scan, with backpropagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.fast.single_state_backward import backward_steps
from seqlab.cells.step_layout import StepLayout


class SingleGateScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, layout -> outputs, last hidden. The gate keeps the old state.

    Forward: one product for the inputs of all steps, then one product and four operations in place per step;
    the activated gate and candidate are stored. Backward: local derivatives in bulk, then `backward_steps`,
    then one product for each matrix.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        layout: StepLayout,
    ) -> tuple[Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 2 * hidden)
        outputs, last = gates.new_empty(len(rows), hidden.shape[1]), hidden.clone()
        _forward_steps(gates, outputs, last, recurrent, layout)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, gates, outputs)
        ctx.layout = layout
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, hidden, gates, outputs = ctx.saved_tensors
        layout, size = ctx.layout, hidden.shape[1]
        hidden_before = previous_states(layout, hidden, outputs)
        gradient = torch.empty_like(gates).view(
            -1, 2, size
        )  # first the local derivatives, then the gradients
        update, candidate = gates.view_as(gradient).unbind(1)
        torch.mul(
            torch.addcmul(update, update, update, value=-1), hidden_before - candidate, out=gradient[:, 0]
        )
        torch.mul(1 - update, 1 - candidate.square(), out=gradient[:, 1])
        carried = d_last.clone()
        backward_steps(gradient, d_outputs.clone(), carried, update, recurrent, layout)
        weights = weight_gradients(
            ctx, gradient.view_as(gates), rows, (layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, carried, None)


def _forward_steps(
    gates: Tensor, outputs: Tensor, last: Tensor, recurrent: Tensor, layout: StepLayout
) -> None:
    """In place: `gates` arrive as W x + b and leave activated, `last` arrives as the first state."""
    size, turned = last.shape[1], recurrent.t()
    for begin, end, live in layout.steps:
        gate, state = gates[begin:end], last[:live]
        gate.addmm_(state, turned)
        update, candidate = gate[:, :size].sigmoid_(), gate[:, size:].tanh_()
        torch.lerp(candidate, state, update, out=outputs[begin:end])
        state.copy_(outputs[begin:end])

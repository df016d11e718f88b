"""The original GRU's whole scan, with backpropagation through time written out by hand."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from seqlab.cells.activations import ACTIVATIONS
from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states
from seqlab.cells.step_layout import StepLayout

Candidate = Literal["tanh", "sigmoid"]


class ResetBeforeGRUScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, shift, hidden, layout, candidate -> outputs, last hidden. The update
    gate keeps the old state.

    `shift` is the candidate's bias if it is outside the activation. The activated gates are stored. Backward:
    local derivatives in bulk, then per step

        d hidden' = d output + carried
        d update, d candidate = local ⊙ d hidden'
        d scaled  = d candidate U_c              (scaled = reset ⊙ hidden)
        d reset   = local ⊙ d scaled
        carried   = update ⊙ d hidden' + reset ⊙ d scaled + (d reset, d update) U

    and then one product for each matrix.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        shift: Tensor | None,
        hidden: Tensor,
        layout: StepLayout,
        candidate: Candidate,
    ) -> tuple[Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 3 * hidden)
        outputs, last = gates.new_empty(len(rows), hidden.shape[1]), hidden.clone()
        _forward_steps(gates, outputs, last, recurrent, shift, layout, candidate)
        ctx.save_for_backward(rows, weight, recurrent, bias, shift, hidden, gates, outputs)
        ctx.layout, ctx.candidate = layout, candidate
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, shift, hidden, gates, outputs = ctx.saved_tensors
        layout, size, needs_grad = ctx.layout, hidden.shape[1], ctx.needs_input_grad
        reset, update, _ = gates.view(-1, 3, size).unbind(1)
        hidden_before = previous_states(layout, hidden, outputs)
        gradient = _local_derivatives(gates, hidden_before, shift, ctx.candidate)
        arriving, carried = d_outputs.clone(), d_last.clone()
        _backward_steps(gradient, arriving, carried, reset, update, recurrent, layout)
        flat, d_recurrent = gradient.view(-1, 3 * size), None
        if needs_grad[2]:
            d_opening = flat[:, : 2 * size].t().mm(hidden_before)
            d_recurrent = torch.cat([d_opening, flat[:, 2 * size :].t().mm(hidden_before.mul_(reset))])
        d_rows = flat.mm(weight) if needs_grad[0] else None
        d_input = flat.t().mm(rows) if needs_grad[1] else None
        d_bias = flat.sum(dim=0) if bias is not None and needs_grad[3] else None
        d_shift = (
            arriving.addcmul_(arriving, update, value=-1).sum(dim=0)
            if shift is not None and needs_grad[4]
            else None
        )
        return d_rows, d_input, d_recurrent, d_bias, d_shift, carried, None, None


def _forward_steps(
    gates: Tensor,
    outputs: Tensor,
    last: Tensor,
    recurrent: Tensor,
    shift: Tensor | None,
    layout: StepLayout,
    candidate: Candidate,
) -> None:
    """In place: `gates` arrive as W x + b and leave activated (without the shift), `last` arrives as the
    first state.
    """
    size = last.shape[1]
    opening, inner = recurrent[: 2 * size].t(), recurrent[2 * size :].t()
    activate = torch.tanh_ if candidate == "tanh" else torch.sigmoid_
    scratch = torch.empty_like(last)
    for begin, end, live in layout.steps:
        gate, state = gates[begin:end], last[:live]
        opened = gate[:, : 2 * size].addmm_(state, opening).sigmoid_()
        scaled = torch.mul(opened[:, :size], state, out=scratch[:live])
        written = activate(gate[:, 2 * size :].addmm_(scaled, inner))
        torch.lerp(
            written if shift is None else written + shift, state, opened[:, size:], out=outputs[begin:end]
        )
        state.copy_(outputs[begin:end])


def _local_derivatives(
    gates: Tensor, hidden_before: Tensor, shift: Tensor | None, candidate: Candidate
) -> Tensor:
    """(rows, 3, hidden): the derivative of `scaled` with respect to the sum of the reset gate, and of the new
    state with respect to those of update gate and candidate.
    """
    local = torch.empty_like(gates).view(len(gates), 3, -1)
    reset, update, written = gates.view_as(local).unbind(1)
    torch.mul(torch.addcmul(reset, reset, reset, value=-1), hidden_before, out=local[:, 0])
    difference = hidden_before - written
    if shift is not None:
        difference -= shift
    torch.mul(torch.addcmul(update, update, update, value=-1), difference, out=local[:, 1])
    torch.mul(1 - update, ACTIVATIONS[candidate].derivative(written), out=local[:, 2])
    return local


def _backward_steps(
    gradient: Tensor,
    arriving: Tensor,
    carried: Tensor,
    reset: Tensor,
    update: Tensor,
    recurrent: Tensor,
    layout: StepLayout,
) -> None:
    """In place: `gradient` arrives as local and leaves as d gates, `arriving` as d output and leaves as d
    hidden', `carried` as d of the last state and leaves as that of the first.
    """
    size = carried.shape[1]
    opening, inner = recurrent[: 2 * size], recurrent[2 * size :]
    flat, scratch = gradient.flatten(1), torch.empty_like(carried)
    for begin, end, live in reversed(layout.steps):
        d_hidden, carry, d_gates = arriving[begin:end], carried[:live], gradient[begin:end]
        d_hidden += carry
        d_gates[:, 1:].mul_(d_hidden.unsqueeze(1))
        d_scaled = torch.mm(flat[begin:end, 2 * size :], inner, out=scratch[:live])
        d_gates[:, 0].mul_(d_scaled)
        torch.mul(d_hidden, update[begin:end], out=carry).addcmul_(d_scaled, reset[begin:end]).addmm_(
            flat[begin:end, : 2 * size], opening
        )

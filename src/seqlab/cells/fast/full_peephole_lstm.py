"""The whole scan of a peephole LSTM with full matrices, with backpropagation through time written out by
hand.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.fast.lstm import local_derivatives
from seqlab.cells.step_layout import StepLayout


class FullPeepholeLSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, cell_state, peephole, layout -> outputs, last hidden, last
    cell_state.

    `peephole` (4 * hidden, hidden) is concatenated with U, in the order of the gates. Hidden state and cell
    state are concatenated in one buffer, so that one product serves both: [hidden, cell_state] [U, P]ᵀ. Every
    gate sees the cell state before the step. Backward, per step:

        d hidden = d output + carried            d cell_state += d hidden ⊙ output ⊙ (1 - tanh²(cell_state))
        d gates  = local ⊙ (d cell_state, d cell_state, d cell_state, d hidden)
        carried  = d gates U                     d cell_state = d cell_state ⊙ forget + d gates P
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        cell_state: Tensor,
        peephole: Tensor,
        layout: StepLayout,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 4 * hidden)
        outputs, cell_states, tanh_cell_state = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        joint = torch.cat([recurrent, peephole], dim=1)  # (4 * hidden, 2 * hidden)
        last = torch.cat([hidden, cell_state], dim=1)  # (batch, 2 * hidden)
        _forward_steps(gates, joint, last, outputs, cell_states, tanh_cell_state, layout)
        ctx.save_for_backward(
            rows,
            weight,
            recurrent,
            bias,
            hidden,
            cell_state,
            joint,
            gates,
            outputs,
            cell_states,
            tanh_cell_state,
        )
        ctx.layout = layout
        last_hidden, last_cell_state = last.chunk(2, dim=1)
        return outputs, last_hidden.contiguous(), last_cell_state.contiguous()

    @staticmethod
    def backward(
        ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_cell_state: Tensor
    ) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last_hidden, d_last_cell_state):
            return no_gradients(ctx)
        (
            rows,
            weight,
            recurrent,
            bias,
            hidden,
            cell_state,
            joint,
            gates,
            outputs,
            cell_states,
            tanh_cell_state,
        ) = ctx.saved_tensors
        cell_state_before = previous_states(ctx.layout, cell_state, cell_states)
        gradient, into_cell_state = (
            torch.empty_like(gates),
            torch.empty_like(cell_states),
        )  # gradient: first the local derivatives of every gate
        local_derivatives(gates, outputs, tanh_cell_state, cell_state_before, gradient, into_cell_state)
        d_state = torch.cat([d_last_hidden, d_last_cell_state], dim=1)  # (batch, 2 * hidden)
        _backward_steps(gradient, joint, d_outputs, d_state, into_cell_state, gates, ctx.layout)
        d_hidden, d_cell_state = d_state.chunk(2, dim=1)
        d_peephole = gradient.t().mm(cell_state_before)
        weights = weight_gradients(
            ctx, gradient, rows, (ctx.layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, d_hidden, d_cell_state, d_peephole, None)


def _forward_steps(
    gates: Tensor,
    joint: Tensor,
    last: Tensor,
    outputs: Tensor,
    cell_states: Tensor,
    tanh_cell_state: Tensor,
    layout: StepLayout,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one.
    `tanh_cell_state` is filled with tanh(cell_states).
    """
    size, turned = outputs.shape[1], joint.t()
    for begin, end, live in layout.steps:
        gate, state, output = gates[begin:end], last[:live], outputs[begin:end]
        hidden, kept = state.split(size, dim=1)
        gate.addmm_(state, turned)
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        gate[:, : 2 * size].sigmoid_()
        candidate.tanh_()
        output_gate.sigmoid_()
        kept.mul_(forget_gate).addcmul_(input_gate, candidate)
        cell_states[begin:end] = kept
        torch.mul(torch.tanh(kept, out=tanh_cell_state[begin:end]), output_gate, out=output)
        hidden.copy_(output)


def _backward_steps(
    gradient: Tensor,
    joint: Tensor,
    d_outputs: Tensor,
    d_state: Tensor,
    into_cell_state: Tensor,
    gates: Tensor,
    layout: StepLayout,
) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_state becomes that of the initial
    state.
    """
    size = d_outputs.shape[1]
    for begin, end, live in reversed(layout.steps):
        d_both, flat = d_state[:live], gradient[begin:end]
        d_shown, d_kept = d_both.split(size, dim=1)
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_cell_state[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        d_shown.zero_()
        d_both.addmm_(flat, joint)

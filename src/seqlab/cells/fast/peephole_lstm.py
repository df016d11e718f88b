"""The peephole LSTM's whole scan, for diagonal peepholes, with backpropagation through time written out by
hand.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import add_products, row_blocks, sigmoid_derivative, tanh_derivative
from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.step_layout import StepLayout


class PeepholeLSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, cell_state, peephole, layout, output_gate_sees_new -> outputs,
    last hidden, last cell_state.

    `peephole` (3, hidden) has the rows input, forget, output; zeros make a gate blind. Backward, a gate that
    sees the cell state before the step adds local ⊙ peephole to what flows back into it, so the bulk part
    folds the peepholes of input and forget into one factor and per step

        d hidden = d output + carried            d cell_state += d hidden ⊙ into_cell_state
        d gates  = local ⊙ (d cell_state, d cell_state, d cell_state, d hidden)
        carried  = d gates U                     d cell_state = d cell_state ⊙ keep + d hidden ⊙ through_output_gate

    where keep = forget + local_input ⊙ P_i + local_forget ⊙ P_f; local_output ⊙ P_o is `through_output_gate`
    when the output gate sees the cell state before the step, or part of `into_cell_state` when it sees the
    new one.
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
        output_gate_sees_new: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 4 * hidden)
        outputs, cell_states, tanh_cell_state = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_cell_state = hidden.clone(), cell_state.clone()
        _forward_steps(
            gates,
            recurrent,
            last_hidden,
            last_cell_state,
            outputs,
            cell_states,
            tanh_cell_state,
            layout,
            peephole=peephole,
            output_gate_sees_new=output_gate_sees_new,
        )
        ctx.save_for_backward(
            rows,
            weight,
            recurrent,
            bias,
            hidden,
            cell_state,
            peephole,
            gates,
            outputs,
            cell_states,
            tanh_cell_state,
        )
        ctx.layout, ctx.output_gate_sees_new = layout, output_gate_sees_new
        return outputs, last_hidden, last_cell_state

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
            peephole,
            gates,
            outputs,
            cell_states,
            tanh_cell_state,
        ) = ctx.saved_tensors
        cell_state_before = previous_states(ctx.layout, cell_state, cell_states)
        gradient, factors = (
            torch.empty_like(gates),
            cell_states.new_empty(3, *cell_states.shape),
        )  # gradient: first the local derivatives
        _local_derivatives(
            gates,
            outputs,
            tanh_cell_state,
            cell_state_before,
            gradient,
            factors,
            peephole=peephole,
            output_gate_sees_new=ctx.output_gate_sees_new,
        )
        d_hidden, d_cell_state = d_last_hidden.clone(), d_last_cell_state.clone()
        _backward_steps(
            gradient,
            recurrent,
            d_outputs,
            d_hidden,
            d_cell_state,
            factors,
            ctx.layout,
            output_gate_sees_new=ctx.output_gate_sees_new,
        )
        d_peephole = torch.zeros_like(peephole)
        for row, gate in enumerate((0, 1, 3)):
            seen = cell_states if gate == 3 and ctx.output_gate_sees_new else cell_state_before
            add_products(gradient.view(-1, 4, hidden.shape[1])[:, gate], seen, to=d_peephole[row])
        weights = weight_gradients(
            ctx, gradient, rows, (ctx.layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, d_hidden, d_cell_state, d_peephole, None, None)


def _local_derivatives(
    gates: Tensor,
    outputs: Tensor,
    tanh_cell_state: Tensor,
    cell_state_before: Tensor,
    gradient: Tensor,
    factors: Tensor,
    *,
    peephole: Tensor,
    output_gate_sees_new: bool,
) -> None:
    """What one unit of d cell_state (d hidden for the output gate) is worth before each gate's activation;
    tanh_cell_state is tanh(cell_state).
    """
    size = outputs.shape[1]
    for gate, output, tanh, seen, local, into, keep, through in row_blocks(
        gates, outputs, tanh_cell_state, cell_state_before, gradient, *factors
    ):
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        to_input_gate, to_forget_gate, to_candidate, to_output_gate = local.split(size, dim=1)
        sigmoid_derivative(input_gate, candidate, out=to_input_gate)
        sigmoid_derivative(forget_gate, seen, out=to_forget_gate)
        tanh_derivative(candidate, input_gate, out=to_candidate)
        sigmoid_derivative(output_gate, tanh, out=to_output_gate)
        torch.addcmul(output_gate, output, tanh, value=-1, out=into)  # output (1 - tanh²)
        torch.addcmul(forget_gate, to_input_gate, peephole[0], out=keep).addcmul_(to_forget_gate, peephole[1])
        if output_gate_sees_new:
            into.addcmul_(to_output_gate, peephole[2])
        else:
            torch.mul(to_output_gate, peephole[2], out=through)


def _forward_steps(
    gates: Tensor,
    recurrent: Tensor,
    hidden: Tensor,
    cell_state: Tensor,
    outputs: Tensor,
    cell_states: Tensor,
    tanh_cell_state: Tensor,
    layout: StepLayout,
    *,
    peephole: Tensor,
    output_gate_sees_new: bool,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one.
    `tanh_cell_state` is filled with tanh(cell_states).
    """
    size, turned, (to_keep, to_output_gate) = hidden.shape[1], recurrent.t(), peephole.split([2, 1])
    for begin, end, live in layout.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], cell_state[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        gate.view(live, 4, size)[:, :2].addcmul_(kept.unsqueeze(1), to_keep).sigmoid_()
        candidate.tanh_()
        if not output_gate_sees_new:
            output_gate.addcmul_(kept, to_output_gate)
        kept.mul_(forget_gate).addcmul_(input_gate, candidate)
        if output_gate_sees_new:
            output_gate.addcmul_(kept, to_output_gate)
        cell_states[begin:end] = kept
        torch.mul(torch.tanh(kept, out=tanh_cell_state[begin:end]), output_gate.sigmoid_(), out=output)
        state.copy_(output)


def _backward_steps(
    gradient: Tensor,
    recurrent: Tensor,
    d_outputs: Tensor,
    d_hidden: Tensor,
    d_cell_state: Tensor,
    factors: Tensor,
    layout: StepLayout,
    *,
    output_gate_sees_new: bool,
) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_hidden and d_cell_state become
    those of the initial state.
    """
    size, (into_cell_state, keep, through_output_gate) = d_hidden.shape[1], factors
    for begin, end, live in reversed(layout.steps):
        d_shown, d_kept, flat = d_hidden[:live], d_cell_state[:live], gradient[begin:end]
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_cell_state[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(keep[begin:end])
        if not output_gate_sees_new:
            d_kept.addcmul_(d_shown, through_output_gate[begin:end])
        torch.mm(flat, recurrent, out=d_shown)

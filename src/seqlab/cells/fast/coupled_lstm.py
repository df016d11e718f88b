"""The coupled LSTM's whole scan, with backpropagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import row_blocks, sigmoid_derivative, tanh_derivative
from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.step_layout import StepLayout


class CoupledLSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, cell_state, layout -> outputs, last hidden, last cell_state.

    As the LSTM's scan, with three gates. Backward, per step:

        d hidden = d output + carried            d cell_state += d hidden ⊙ output ⊙ (1 - tanh²(cell_state))
        d gates  = local ⊙ (d cell_state, d cell_state, d hidden)
        carried  = d gates U                     d cell_state = d cell_state ⊙ forget
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
        layout: StepLayout,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 3 * hidden)
        outputs, cell_states, tanh_cell_state = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_cell_state = hidden.clone(), cell_state.clone()
        _forward_steps(
            gates, recurrent, last_hidden, last_cell_state, outputs, cell_states, tanh_cell_state, layout
        )
        ctx.save_for_backward(
            rows, weight, recurrent, bias, hidden, cell_state, gates, outputs, cell_states, tanh_cell_state
        )
        ctx.layout = layout
        return outputs, last_hidden, last_cell_state

    @staticmethod
    def backward(
        ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_cell_state: Tensor
    ) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last_hidden, d_last_cell_state):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, hidden, cell_state, gates, outputs, cell_states, tanh_cell_state = (
            ctx.saved_tensors
        )
        gradient, into_cell_state = (
            torch.empty_like(gates),
            torch.empty_like(cell_states),
        )  # gradient: first the local derivatives of every gate
        _local_derivatives(
            gates,
            outputs,
            tanh_cell_state,
            previous_states(ctx.layout, cell_state, cell_states),
            gradient,
            into_cell_state,
        )
        d_hidden, d_cell_state = d_last_hidden.clone(), d_last_cell_state.clone()
        _backward_steps(
            gradient, recurrent, d_outputs, d_hidden, d_cell_state, into_cell_state, gates, ctx.layout
        )
        weights = weight_gradients(
            ctx, gradient, rows, (ctx.layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, d_hidden, d_cell_state, None)


def _local_derivatives(
    gates: Tensor,
    outputs: Tensor,
    tanh_cell_state: Tensor,
    cell_state_before: Tensor,
    gradient: Tensor,
    into_cell_state: Tensor,
) -> None:
    """What one unit of d cell_state (d hidden for the output gate) is worth before each gate's activation;
    tanh_cell_state is tanh(cell_state).
    """
    size = outputs.shape[1]
    for gate, output, tanh, kept, local, into in row_blocks(
        gates, outputs, tanh_cell_state, cell_state_before, gradient, into_cell_state
    ):
        forget_gate, candidate, output_gate = gate.split(size, dim=1)
        to_forget_gate, to_candidate, to_output_gate = local.split(size, dim=1)
        sigmoid_derivative(forget_gate, kept - candidate, out=to_forget_gate)
        tanh_derivative(candidate, 1 - forget_gate, out=to_candidate)
        sigmoid_derivative(output_gate, tanh, out=to_output_gate)
        torch.addcmul(output_gate, output, tanh, value=-1, out=into)  # output (1 - tanh²)


def _forward_steps(
    gates: Tensor,
    recurrent: Tensor,
    hidden: Tensor,
    cell_state: Tensor,
    outputs: Tensor,
    cell_states: Tensor,
    tanh_cell_state: Tensor,
    layout: StepLayout,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one.
    `tanh_cell_state` is filled with tanh(cell_states).
    """
    size, turned = hidden.shape[1], recurrent.t()
    for begin, end, live in layout.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], cell_state[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        forget_gate, candidate, output_gate = gate.split(size, dim=1)
        forget_gate.sigmoid_()
        candidate.tanh_()
        output_gate.sigmoid_()
        torch.lerp(candidate, kept, forget_gate, out=kept)  # forget cell_state + (1 - forget) candidate
        cell_states[begin:end] = kept
        torch.mul(torch.tanh(kept, out=tanh_cell_state[begin:end]), output_gate, out=output)
        state.copy_(output)


def _backward_steps(
    gradient: Tensor,
    recurrent: Tensor,
    d_outputs: Tensor,
    d_hidden: Tensor,
    d_cell_state: Tensor,
    into_cell_state: Tensor,
    gates: Tensor,
    layout: StepLayout,
) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_hidden and d_cell_state become
    those of the initial state.
    """
    size = d_hidden.shape[1]
    for begin, end, live in reversed(layout.steps):
        d_shown, d_kept, flat = d_hidden[:live], d_cell_state[:live], gradient[begin:end]
        local = flat.view(live, 3, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_cell_state[begin:end])
        local[:, :2].mul_(d_kept.unsqueeze(1))
        local[:, 2].mul_(d_shown)
        d_kept.mul_(gates[begin:end, :size])  # forget
        torch.mm(flat, recurrent, out=d_shown)

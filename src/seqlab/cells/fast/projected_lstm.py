"""The projected LSTM's whole scan, with backpropagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.fast.lstm import local_derivatives
from seqlab.cells.step_layout import StepLayout


class ProjectedLSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, projection, hidden, cell_state, layout -> outputs, last hidden, last
    cell_state.

    As the LSTM's scan, with one more product per step each way. Backward, per step, with R the projection:

        d hidden = d output + carried            d unprojected = d hidden R
        d cell_state += d unprojected ⊙ output ⊙ (1 - tanh²(cell_state))
        d gates  = local ⊙ (d cell_state, d cell_state, d cell_state, d unprojected)
        carried  = d gates U                     d cell_state = d cell_state ⊙ forget
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        projection: Tensor,
        hidden: Tensor,
        cell_state: Tensor,
        layout: StepLayout,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = (
            rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        )  # (rows, 4 * hidden)
        unprojected, cell_states, tanh_cell_state = gates.new_empty(3, len(rows), cell_state.shape[1]).unbind(
            0
        )
        outputs = gates.new_empty(len(rows), hidden.shape[1])  # (rows, proj)
        last_hidden, last_cell_state = hidden.clone(), cell_state.clone()
        _forward_steps(
            gates,
            recurrent,
            projection,
            last_hidden,
            last_cell_state,
            outputs,
            unprojected,
            cell_states,
            tanh_cell_state,
            layout,
        )
        ctx.save_for_backward(
            rows,
            weight,
            recurrent,
            bias,
            projection,
            hidden,
            cell_state,
            gates,
            outputs,
            unprojected,
            cell_states,
            tanh_cell_state,
        )
        ctx.layout = layout
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
            projection,
            hidden,
            cell_state,
            gates,
            outputs,
            unprojected,
            cell_states,
            tanh_cell_state,
        ) = ctx.saved_tensors
        gradient, into_cell_state = (
            torch.empty_like(gates),
            torch.empty_like(cell_states),
        )  # gradient: first the local derivatives of every gate
        local_derivatives(
            gates,
            unprojected,
            tanh_cell_state,
            previous_states(ctx.layout, cell_state, cell_states),
            gradient,
            into_cell_state,
        )
        arriving, d_hidden, d_cell_state = d_outputs.clone(), d_last_hidden.clone(), d_last_cell_state.clone()
        _backward_steps(
            gradient,
            recurrent,
            projection,
            arriving,
            d_hidden,
            d_cell_state,
            into_cell_state,
            gates,
            ctx.layout,
        )
        weights = weight_gradients(
            ctx, gradient, rows, (ctx.layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, arriving.t().mm(unprojected), d_hidden, d_cell_state, None)


def _forward_steps(
    gates: Tensor,
    recurrent: Tensor,
    projection: Tensor,
    hidden: Tensor,
    cell_state: Tensor,
    outputs: Tensor,
    unprojected: Tensor,
    cell_states: Tensor,
    tanh_cell_state: Tensor,
    layout: StepLayout,
) -> None:
    """From the projected inputs to the activated gates, in place; the tensors after `cell_state` are filled,
    the state becomes the last one.
    """
    size, turned, to_output = cell_state.shape[1], recurrent.t(), projection.t()
    for begin, end, live in layout.steps:
        gate, state, kept = gates[begin:end], hidden[:live], cell_state[:live]
        gate.addmm_(state, turned)
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        gate[:, : 2 * size].sigmoid_()
        candidate.tanh_()
        output_gate.sigmoid_()
        kept.mul_(forget_gate).addcmul_(input_gate, candidate)
        cell_states[begin:end] = kept
        torch.mul(torch.tanh(kept, out=tanh_cell_state[begin:end]), output_gate, out=unprojected[begin:end])
        torch.mm(unprojected[begin:end], to_output, out=outputs[begin:end])
        state.copy_(outputs[begin:end])


def _backward_steps(
    gradient: Tensor,
    recurrent: Tensor,
    projection: Tensor,
    arriving: Tensor,
    d_hidden: Tensor,
    d_cell_state: Tensor,
    into_cell_state: Tensor,
    gates: Tensor,
    layout: StepLayout,
) -> None:
    """From the local derivatives to the gradients of the gates, in place; `arriving` comes as d outputs and
    becomes d hidden of every row, d_hidden and d_cell_state become those of the initial state.
    """
    size = d_cell_state.shape[1]
    for begin, end, live in reversed(layout.steps):
        carried, d_kept, flat = d_hidden[:live], d_cell_state[:live], gradient[begin:end]
        local = flat.view(live, 4, size)
        arriving[begin:end] += carried
        d_unprojected = arriving[begin:end].mm(projection)
        d_kept.addcmul_(d_unprojected, into_cell_state[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_unprojected)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        torch.mm(flat, recurrent, out=carried)

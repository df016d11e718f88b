"""The LSTM's whole scan: by torch's fused layer, or with backpropagation through time written out by
hand.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import row_blocks, sigmoid_derivative, tanh_derivative
from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states, weight_gradients
from seqlab.cells.step_layout import StepLayout, gather_rows, scatter_rows
from seqlab.core.errors import UsageError

SATURATED = 1e4
"""σ(SATURATED + anything usual) is 1 to the last bit, and σ(-SATURATED + anything usual) is 0."""


class LSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, cell_state, layout, sigmoid candidate -> outputs, last hidden,
    last cell_state.

    Forward: one product for the inputs of all steps, then one product and a few operations in place per step;
    the activated gates and the cell states are stored. Backward: the local derivatives of all gates in bulk,
    then per step

        d hidden = d output + carried            d cell_state += d hidden ⊙ output ⊙ (1 - tanh²(cell_state))
        d gates  = local ⊙ (d cell_state, d cell_state, d cell_state, d hidden)
        carried  = d gates U                     d cell_state = d cell_state ⊙ forget

    and two products for the weights of all steps.
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
        sigmoid_candidate: bool = False,
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
            sigmoid_candidate=sigmoid_candidate,
        )
        ctx.save_for_backward(
            rows, weight, recurrent, bias, hidden, cell_state, gates, outputs, cell_states, tanh_cell_state
        )
        ctx.layout, ctx.sigmoid_candidate = layout, sigmoid_candidate
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
        local_derivatives(
            gates,
            outputs,
            tanh_cell_state,
            previous_states(ctx.layout, cell_state, cell_states),
            gradient,
            into_cell_state,
            sigmoid_candidate=ctx.sigmoid_candidate,
        )
        d_hidden, d_cell_state = d_last_hidden.clone(), d_last_cell_state.clone()
        _backward_steps(
            gradient, recurrent, d_outputs, d_hidden, d_cell_state, into_cell_state, gates, ctx.layout
        )
        weights = weight_gradients(
            ctx, gradient, rows, (ctx.layout, hidden, outputs), (weight, recurrent, bias)
        )
        return (*weights, d_hidden, d_cell_state, None, None)


def local_derivatives(
    gates: Tensor,
    outputs: Tensor,
    tanh_cell_state: Tensor,
    cell_state_before: Tensor,
    gradient: Tensor,
    into_cell_state: Tensor,
    *,
    sigmoid_candidate: bool = False,
) -> None:
    """What one unit of d cell_state (d hidden for the output gate) is worth before each gate's activation;
    tanh_cell_state is tanh(cell_state).
    """
    size = outputs.shape[1]
    for gate, output, tanh, kept, local, into in row_blocks(
        gates, outputs, tanh_cell_state, cell_state_before, gradient, into_cell_state
    ):
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        to_input_gate, to_forget_gate, to_candidate, to_output_gate = local.split(size, dim=1)
        sigmoid_derivative(input_gate, candidate, out=to_input_gate)
        sigmoid_derivative(forget_gate, kept, out=to_forget_gate)
        (sigmoid_derivative if sigmoid_candidate else tanh_derivative)(
            candidate, input_gate, out=to_candidate
        )
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
    *,
    sigmoid_candidate: bool,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one.
    `tanh_cell_state` is filled with tanh(cell_states).
    """
    size, turned = hidden.shape[1], recurrent.t()
    for begin, end, live in layout.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], cell_state[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        input_gate, forget_gate, candidate, output_gate = gate.split(size, dim=1)
        if sigmoid_candidate:
            gate.sigmoid_()
        else:
            gate[:, : 2 * size].sigmoid_()
            candidate.tanh_()
            output_gate.sigmoid_()
        kept.mul_(forget_gate).addcmul_(input_gate, candidate)
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
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_cell_state[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        torch.mm(flat, recurrent, out=d_shown)


def fused_scan(
    rows: Tensor, weights: tuple[Tensor, Tensor, Tensor | None], state: tuple[Tensor, ...], layout: StepLayout
) -> tuple[Tensor, Tensor, Tensor]:
    """The same scan by torch's fused layer, which is the fastest for full-length sequences on a CPU unless a
    C++ kernel is built.
    """
    weight, recurrent, bias = weights
    _check_matrices(weight, recurrent, bias, rows.shape[1], state[0].shape[1], state[1].shape[1])
    steps = rows.reshape(-1, layout.num_sequences, rows.shape[1])  # (time, batch, input)
    parameters = [weight, recurrent] if bias is None else [weight, recurrent, bias, torch.zeros_like(bias)]
    outputs, last_hidden, last_cell_state = torch.lstm(
        steps.flip(0) if layout.reverse else steps,
        tuple(part.unsqueeze(0) for part in state),
        parameters,
        bias is not None,
        1,
        0.0,
        torch.is_grad_enabled(),
        False,
        False,
    )
    outputs = outputs.flip(0) if layout.reverse else outputs
    return outputs.reshape(len(rows), -1), last_hidden[0], last_cell_state[0]


def _check_matrices(
    weight: Tensor,
    recurrent: Tensor,
    bias: Tensor | None,
    input_size: int,
    hidden_size: int,
    memory_size: int,
) -> None:
    """torch's LSTM does not check weight shapes on a CPU: it reads out of bounds if a matrix is too small."""
    gates = 4 * hidden_size
    shapes = [tuple(part.shape) for part in (weight, recurrent, bias) if part is not None]
    if (
        shapes != [(gates, input_size), (gates, hidden_size), (gates,)][: len(shapes)]
        or memory_size != hidden_size
    ):
        raise UsageError(
            f"weight shapes {shapes} do not match input size {input_size}, hidden size {hidden_size} and"
            f" cell-state size {memory_size}."
        )


def padded_scan(
    rows: Tensor, weights: tuple[Tensor, Tensor, Tensor | None], state: tuple[Tensor, ...], layout: StepLayout
) -> tuple[Tensor, Tensor, Tensor]:
    """For sequences of similar length: torch's layer over the padded batch, with the cell states of finished
    sequences held constant.

    An extra input is 1 in the padding and 0 elsewhere. It opens the forget gate and closes the input gate, so
    that cell_state' = 1 · cell_state + 0. The saturated gates pass the gradient of the last cell state back
    unchanged. Backward scans start each sequence at its end, so that their padding comes last, too.
    """
    weight, recurrent, bias = weights
    size, batch = recurrent.shape[1], layout.num_sequences
    ended = torch.ones(batch * len(layout.batch_sizes), 1, dtype=rows.dtype).index_fill_(
        0, layout.padded_rows, 0.0
    )
    padded = torch.cat([scatter_rows(rows, layout.padded_rows, len(ended)), ended], dim=1)
    hold = torch.zeros(len(weight), 1, dtype=weight.dtype)
    hold[:size], hold[size : 2 * size] = -SATURATED, SATURATED
    full = StepLayout(
        tuple(range(0, len(ended), batch)),
        (batch,) * len(layout.batch_sizes),
        reverse=False,
        device=layout.device,
    )
    outputs, _, cell_state = fused_scan(
        padded, (torch.cat([weight, hold], dim=1), recurrent, bias), state, full
    )
    last = (layout.lengths - 1) * batch + torch.arange(batch)
    return (
        gather_rows(outputs, layout.padded_rows),
        gather_rows(outputs, last),
        cell_state,
    )

"""Whole scans in C++ for the cells whose step is one matrix product: same numbers as the Python scans, but
faster.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import add_products
from seqlab.cells.fast.bptt import (
    bias_gradient,
    is_bypassed,
    matrix_gradient,
    no_gradients,
    previous_states,
    recurrent_gradient,
    weight_gradients,
)
from seqlab.cells.native.contiguous import as_contiguous
from seqlab.cells.native.library import native_kernels
from seqlab.cells.step_layout import StepLayout


class NativeLSTMScan(torch.autograd.Function):
    """kernel, peephole or None, … as LSTMScan: for lstm, coupled_lstm and peephole_lstm."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        cell_state: Tensor,
        peephole: Tensor | None,
        layout: StepLayout,
        kernel: str,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t())  # the kernel adds the bias
        outputs, cell_states = gates.new_empty(2, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_cell_state = as_contiguous(hidden).clone(), as_contiguous(cell_state).clone()
        kernels = native_kernels(rows)
        assert kernels is not None, "the native kernels are not loaded"
        run = getattr(kernels, f"{kernel}_forward")
        run(
            gates,
            recurrent.resolve_neg(),
            _or_zeros(bias, gates),
            last_hidden,
            last_cell_state,
            outputs,
            cell_states,
            _readable_or_none(peephole),
            layout.batch_sizes,
            layout.reverse,
        )
        ctx.save_for_backward(
            rows, weight, recurrent, bias, hidden, cell_state, peephole, gates, outputs, cell_states
        )
        ctx.layout, ctx.kernel, ctx.run = layout, kernel, getattr(kernels, f"{kernel}_backward")
        return outputs, last_hidden, last_cell_state

    @staticmethod
    def backward(
        ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_cell_state: Tensor
    ) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last_hidden, d_last_cell_state):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, hidden, cell_state, peephole, gates, outputs, cell_states = (
            ctx.saved_tensors
        )
        gradient, d_bias, layout = torch.empty_like(gates), gates.new_zeros(gates.shape[1]), ctx.layout
        d_hidden, d_cell_state = (
            as_contiguous(d_last_hidden).clone(),
            as_contiguous(d_last_cell_state).clone(),
        )
        ctx.run(
            gates,
            as_contiguous(recurrent),
            cell_states,
            cell_states,
            as_contiguous(cell_state),
            as_contiguous(d_outputs),
            d_hidden,
            d_cell_state,
            gradient,
            None,
            d_bias,
            _readable_or_none(peephole),
            layout.batch_sizes,
            layout.reverse,
        )
        d_rows, d_weight, d_recurrent, _ = weight_gradients(
            ctx, gradient, rows, (layout, hidden, outputs), (weight, recurrent, None)
        )
        d_peephole = None
        if peephole is not None and ctx.needs_input_grad[6]:
            d_peephole = torch.zeros_like(peephole)
            cell_state_before = previous_states(layout, cell_state, cell_states)
            for row, gate in enumerate((0, 1, 3)):  # input, forget, output
                seen = cell_states if gate == 3 and ctx.kernel == "peephole_lstm_new" else cell_state_before
                add_products(gradient.view(-1, 4, hidden.shape[1])[:, gate], seen, to=d_peephole[row])
        return (
            d_rows,
            d_weight,
            d_recurrent,
            d_bias if bias is not None else None,
            d_hidden,
            d_cell_state,
            d_peephole,
            None,
            None,
        )


class NativeGRUScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, recurrent_bias or None, hidden, layout, kernel -> outputs, last hidden:
    for gru and single_gate.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        recurrent_bias: Tensor | None,
        hidden: Tensor,
        layout: StepLayout,
        kernel: str,
    ) -> tuple[Tensor, Tensor]:
        gates = rows.mm(weight.t())  # the kernel adds the bias
        outputs, last = gates.new_empty(len(rows), hidden.shape[1]), as_contiguous(hidden).clone()
        inner, added = None, None
        if kernel == "gru":
            inner, added = (
                torch.empty_like(outputs),
                hidden.new_zeros(hidden.shape[1]) if recurrent_bias is None else recurrent_bias,
            )
        kernels = native_kernels(rows)
        assert kernels is not None, "the native kernels are not loaded"
        run = getattr(kernels, f"{kernel}_forward")
        run(
            gates,
            recurrent.resolve_neg(),
            _or_zeros(bias, gates),
            last,
            None,
            outputs,
            inner,
            _readable_or_none(added),
            layout.batch_sizes,
            layout.reverse,
        )
        ctx.save_for_backward(rows, weight, recurrent, bias, recurrent_bias, hidden, gates, inner, outputs)
        ctx.layout, ctx.kernel, ctx.run = layout, kernel, getattr(kernels, f"{kernel}_backward")
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, recurrent_bias, hidden, gates, inner, outputs = ctx.saved_tensors
        layout, size, needs_grad = ctx.layout, hidden.shape[1], ctx.needs_input_grad
        gradient, d_bias, carried = (
            torch.empty_like(gates),
            gates.new_zeros(gates.shape[1]),
            as_contiguous(d_last).clone(),
        )
        d_candidate = None if inner is None else torch.empty_like(inner)
        ctx.run(
            gates,
            as_contiguous(recurrent),
            inner,
            outputs,
            as_contiguous(hidden),
            as_contiguous(d_outputs),
            carried,
            None,
            gradient,
            d_candidate,
            d_bias,
            None,
            layout.batch_sizes,
            layout.reverse,
        )
        d_recurrent = recurrent_gradient(layout, gradient, hidden, outputs) if needs_grad[2] else None
        d_recurrent_bias = (
            bias_gradient(gradient[:, 2 * size :]) if recurrent_bias is not None and needs_grad[4] else None
        )
        if d_candidate is not None:
            gradient[:, 2 * size :] = d_candidate  # the gradient of W x is not scaled by the reset gate
        d_rows = gradient.mm(weight) if needs_grad[0] else None
        d_input = matrix_gradient(gradient, rows) if needs_grad[1] else None
        return (
            d_rows,
            d_input,
            d_recurrent,
            None if bias is None else d_bias,
            d_recurrent_bias,
            carried,
            None,
            None,
        )


def _or_zeros(bias: Tensor | None, gates: Tensor) -> Tensor:
    return gates.new_zeros(gates.shape[1]) if bias is None else as_contiguous(bias)


def _readable_or_none(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else as_contiguous(tensor)

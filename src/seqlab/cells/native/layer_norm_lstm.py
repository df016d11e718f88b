"""The layer-normalized LSTM's whole scan in C++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, matrix_gradient, no_gradients, recurrent_gradient
from seqlab.cells.native.contiguous import as_contiguous
from seqlab.cells.native.library import native_kernels
from seqlab.cells.step_layout import StepLayout


class NativeLayerNormLSTMScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, input gain, recurrent gain, cell gain, cell shift, hidden,
    cell_state, layout, epsilon -> outputs, last hidden, last cell_state.

    The sums W x and U h, the cell states, and the mean and 1/deviation of all three norms are stored for the
    backward pass; gates are recomputed.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        input_gain: Tensor,
        gain: Tensor,
        cell_gain: Tensor,
        cell_shift: Tensor | None,
        hidden: Tensor,
        cell_state: Tensor,
        layout: StepLayout,
        epsilon: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        kernels = native_kernels(rows)
        assert kernels is not None, "the native kernels are not loaded"
        sums = rows.mm(weight.t())
        products, moments = torch.empty_like(sums), sums.new_empty(6, len(sums))
        outputs, cell_states = sums.new_empty(2, len(sums), hidden.shape[1]).unbind(0)
        last_hidden, last_cell_state = as_contiguous(hidden).clone(), as_contiguous(cell_state).clone()
        input_gain, gain, cell_gain = as_contiguous(input_gain), as_contiguous(gain), as_contiguous(cell_gain)
        shifts = (
            torch.zeros_like(input_gain) if bias is None else as_contiguous(bias),
            torch.zeros_like(cell_gain) if cell_shift is None else as_contiguous(cell_shift),
        )
        kernels.layer_norm_lstm_forward(
            sums,
            products,
            recurrent.resolve_neg(),
            input_gain,
            shifts[0],
            gain,
            cell_gain,
            shifts[1],
            last_hidden,
            last_cell_state,
            outputs,
            cell_states,
            moments,
            epsilon,
            layout.batch_sizes,
            layout.reverse,
        )
        ctx.save_for_backward(
            rows,
            weight,
            recurrent,
            input_gain,
            gain,
            cell_gain,
            *shifts,
            hidden,
            cell_state,
            sums,
            products,
            outputs,
            cell_states,
            moments,
        )
        ctx.layout, ctx.has_bias, ctx.run = layout, bias is not None, kernels.layer_norm_lstm_backward
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
            input_gain,
            gain,
            cell_gain,
            shift,
            cell_shift,
            hidden,
            cell_state,
            sums,
            products,
            outputs,
            cell_states,
            moments,
        ) = ctx.saved_tensors
        d_sums, d_products = torch.empty_like(sums), torch.empty_like(sums)
        d_hidden, d_cell_state = (
            as_contiguous(d_last_hidden).clone(),
            as_contiguous(d_last_cell_state).clone(),
        )
        d_gains, d_cell_gains = (
            gain.new_zeros(3, len(gain)),
            gain.new_zeros(2, len(cell_gain)),
        )  # of the two sums, and the bias; gain and shift
        ctx.run(
            sums,
            products,
            as_contiguous(recurrent),
            input_gain,
            shift,
            gain,
            cell_gain,
            cell_shift,
            cell_states,
            moments,
            as_contiguous(cell_state),
            as_contiguous(d_outputs),
            d_hidden,
            d_cell_state,
            d_sums,
            d_products,
            d_gains,
            d_cell_gains,
            ctx.layout.batch_sizes,
            ctx.layout.reverse,
        )
        needs_grad = ctx.needs_input_grad
        d_rows = d_sums.mm(weight) if needs_grad[0] else None
        d_weight = matrix_gradient(d_sums, rows) if needs_grad[1] else None
        d_recurrent = recurrent_gradient(ctx.layout, d_products, hidden, outputs) if needs_grad[2] else None
        d_bias, d_shift = (d_gains[2], d_cell_gains[1]) if ctx.has_bias else (None, None)
        return (
            d_rows,
            d_weight,
            d_recurrent,
            d_bias,
            d_gains[0],
            d_gains[1],
            d_cell_gains[0],
            d_shift,
            d_hidden,
            d_cell_state,
            None,
            None,
        )

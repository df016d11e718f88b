"""The original GRU's whole scan in C++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import bias_gradient, is_bypassed, matrix_gradient, no_gradients, previous_states
from seqlab.cells.native.contiguous import as_contiguous
from seqlab.cells.native.library import native_kernels
from seqlab.cells.step_layout import StepLayout


class NativeResetBeforeGRUScan(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, layout -> outputs, last hidden.

    The update gate keeps the old state, the candidate is a tanh.
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
        kernels = native_kernels(rows)
        assert kernels is not None, "the native kernels are not loaded"
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        outputs, last = gates.new_empty(len(rows), hidden.shape[1]), as_contiguous(hidden).clone()
        kernels.reset_before_gru_forward(
            gates, as_contiguous(recurrent), last, outputs, layout.batch_sizes, layout.reverse
        )
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, gates, outputs)
        ctx.layout, ctx.run = layout, kernels.reset_before_gru_backward
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, weight, recurrent, bias, hidden, gates, outputs = ctx.saved_tensors
        layout, size, needs_grad = ctx.layout, hidden.shape[1], ctx.needs_input_grad
        gradient, carried = torch.empty_like(gates), as_contiguous(d_last).clone()
        ctx.run(
            gates,
            as_contiguous(recurrent),
            outputs,
            as_contiguous(hidden),
            as_contiguous(d_outputs),
            carried,
            gradient,
            layout.batch_sizes,
            layout.reverse,
        )
        d_recurrent = None
        if needs_grad[2]:
            hidden_before = previous_states(layout, hidden, outputs)
            d_opening = matrix_gradient(gradient[:, : 2 * size], hidden_before)
            d_recurrent = torch.cat(
                [d_opening, matrix_gradient(gradient[:, 2 * size :], hidden_before.mul_(gates[:, :size]))]
            )
        d_rows = gradient.mm(weight) if needs_grad[0] else None
        d_input = matrix_gradient(gradient, rows) if needs_grad[1] else None
        d_bias = bias_gradient(gradient) if bias is not None and needs_grad[3] else None
        return d_rows, d_input, d_recurrent, d_bias, carried, None

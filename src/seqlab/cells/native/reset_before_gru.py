"""The original GRU's whole walk in C++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import before, bias_gradient, matrix_gradient, refuse_second_order
from seqlab.cells.native.library import native
from seqlab.cells.step_layout import Path


class NativeResetBeforeWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, path -> outputs, last hidden. The update gate keeps the old state, the candidate is a tanh."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor | None, hidden: Tensor, path: Path) -> tuple[Tensor, Tensor]:
        kernels = native(rows)
        assert kernels is not None, "asked for a kernel where there is none"
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
        outputs, last = gates.new_empty(len(rows), hidden.shape[1]), hidden.contiguous().clone()
        kernels.reset_before_gru_forward(gates, recurrent.contiguous(), last, outputs, path.sizes, path.reverse)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, gates, outputs)
        ctx.path, ctx.run = path, kernels.reset_before_gru_backward
        return outputs, last

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, hidden, gates, outputs = ctx.saved_tensors
        path, size, wanted = ctx.path, hidden.shape[1], ctx.needs_input_grad
        gradient, carried = torch.empty_like(gates), d_last.contiguous().clone()
        ctx.run(
            gates, recurrent.contiguous(), outputs, hidden.contiguous(), d_outputs.contiguous(), carried, gradient, path.sizes, path.reverse
        )  # fmt: skip
        d_recurrent = None
        if wanted[2]:
            hidden_before = before(path, hidden, outputs)
            d_opening = matrix_gradient(gradient[:, : 2 * size], hidden_before)
            d_recurrent = torch.cat([d_opening, matrix_gradient(gradient[:, 2 * size :], hidden_before.mul_(gates[:, :size]))])
        d_rows = gradient.mm(weight) if wanted[0] else None
        d_input = matrix_gradient(gradient, rows) if wanted[1] else None
        d_bias = bias_gradient(gradient) if bias is not None and wanted[3] else None
        return d_rows, d_input, d_recurrent, d_bias, carried, None

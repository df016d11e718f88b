"""Shared parts of the hand-written backpropagation through time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.step_layout import StepLayout
from seqlab.cells.tracing import is_transformed
from seqlab.core.errors import UsageError


def previous_states(layout: StepLayout, initial: Tensor, outputs: Tensor) -> Tensor:
    """The state before every packed row: that of the previous step, or the initial one."""
    if layout.is_full:
        rows = (
            outputs[layout.num_sequences :]
            if layout.reverse
            else outputs[: len(outputs) - layout.num_sequences]
        )
        return torch.cat([rows, initial] if layout.reverse else [initial, rows])
    return torch.cat([initial, outputs]).index_select(0, layout.previous_rows)


def is_bypassed(*gradients: Tensor) -> bool:
    """Whether the gradients of this scan take the way through `blocks.higher_order`, because autograd must
    see every operation: a graph of the gradient (create_graph) or vmap over gradients. Nothing arrives here
    then, and a hand-written backward pass returns nothing.
    """
    if not (torch.is_grad_enabled() or is_transformed()):
        return False
    if any(bool(gradient.any()) for gradient in gradients):
        raise UsageError(
            "a hand-written scan does not support second derivatives.",
            cure="Call it through seqlab.blocks.scan.scan, which does.",
        )
    return True


def no_gradients(ctx: Any) -> tuple[None, ...]:
    """What a backward pass that is bypassed returns."""
    return (None,) * len(ctx.needs_input_grad)


def weight_gradients(
    ctx: Any,
    gradient: Tensor,
    rows: Tensor,
    scanned: tuple[StepLayout, Tensor, Tensor],
    weights: tuple[Tensor, Tensor, Tensor | None],
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """d rows, d input, d recurrent, d bias from the gradient of all gates before their activation (rows,
    gates): one large product each.

    The first four inputs of the function are, in this order, rows, input, recurrent and bias; scanned is
    layout, initial state, outputs.
    """
    needs_grad = ctx.needs_input_grad
    return (
        gradient.mm(weights[0]) if needs_grad[0] else None,
        matrix_gradient(gradient, rows) if needs_grad[1] else None,
        recurrent_gradient(scanned[0], gradient, *scanned[1:]) if needs_grad[2] else None,
        bias_gradient(gradient) if weights[2] is not None and needs_grad[3] else None,
    )


def matrix_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """gradientᵀ rows.

    The transposed product, transposed back, is 5% faster on a CPU.
    """
    return rows.t().mm(gradient).t().contiguous()


def recurrent_gradient(layout: StepLayout, gradient: Tensor, initial: Tensor, outputs: Tensor) -> Tensor:
    """gradientᵀ (the states before each row); with equal lengths the outputs shifted by one step are those
    states, so no copy is needed.
    """
    if not layout.is_full:
        return matrix_gradient(gradient, previous_states(layout, initial, outputs))
    first = layout.num_sequences
    if layout.reverse:
        return matrix_gradient(gradient[:-first], outputs[first:]) + matrix_gradient(
            gradient[-first:], initial
        )
    return matrix_gradient(gradient[first:], outputs[:-first]) + matrix_gradient(gradient[:first], initial)


def bias_gradient(gradient: Tensor) -> Tensor:
    """The sum over all rows; as a matrix product it takes two thirds of the time."""
    return gradient.new_ones(1, len(gradient)).mm(gradient)[0]

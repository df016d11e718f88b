"""Derivatives of any order through fast scans: where autograd must see every operation, the gradient goes
through the reference scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqlab.cells.step_layout import apply_function
from seqlab.cells.tracing import is_transformed

Tensors = tuple[Tensor, ...]


def with_higher_orders(
    results: Tensors, inputs: tuple[Tensor | None, ...], reference: Callable[..., Tensors]
) -> Tensors:
    """The results of a fast scan, with gradients of any order.

    An ordinary gradient goes to the fast scan. A gradient that must itself be differentiated (create_graph)
    or that vmap maps over goes to the inputs, through `reference(*inputs)`, and none to the fast scan.
    """
    if not any(result.requires_grad for result in results):
        return results
    copies: Tensors = apply_function(
        _FastScanWithReferenceGradient, reference, len(results), *results, *inputs
    )
    return copies


class _FastScanWithReferenceGradient(torch.autograd.Function):
    """reference, number of results, results, inputs -> results.

    The results are copies: the fast scan keeps its own for the backward pass, and a caller may change an output in
    place, as after torch's layers.
    """

    @staticmethod
    def forward(ctx: Any, reference: Callable[..., Tensors], count: int, *tensors: Tensor) -> Tensors:
        ctx.save_for_backward(*tensors[count:])
        ctx.reference, ctx.count = reference, count
        return tuple(result.clone() for result in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        if not (torch.is_grad_enabled() or is_transformed()):
            return (None, None, *gradients, *[None] * len(ctx.saved_tensors))
        needs_grad = ctx.needs_input_grad[2 + ctx.count :]
        return (
            None,
            None,
            *[None] * ctx.count,
            *_reference_gradients(ctx.reference, ctx.saved_tensors, needs_grad, gradients),
        )


def _reference_gradients(
    reference: Callable[..., Tensors],
    inputs: tuple[Tensor | None, ...],
    needs_grad: tuple[bool, ...],
    gradients: Tensors,
) -> list[Tensor | None]:
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        aliases = [part if part is None else part.view_as(part) for part in inputs]  # partial derivatives
        results = reference(*aliases)
    leaves = [
        alias for alias, needed in zip(aliases, needs_grad, strict=True) if needed and alias is not None
    ]
    pairs = [
        (result, gradient)
        for result, gradient in zip(results, gradients, strict=True)
        if result.requires_grad
    ]
    input_gradients = iter(
        torch.autograd.grad(
            [result for result, _ in pairs],
            leaves,
            [gradient for _, gradient in pairs],
            create_graph=create_graph,
            allow_unused=True,
        )
    )
    return [
        next(input_gradients) if needed and alias is not None else None
        for alias, needed in zip(aliases, needs_grad, strict=True)
    ]

"""Gradient flow: the norm of each state, and of the gradient of the loss with respect to it, at every
step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.inspection.step_order import Array, mask_padding, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork, require_unrolled

Loss = Callable[[Tensor], Tensor]
"""Outputs (batch, time, output) -> one number, a sum over the sequences."""


@dataclass(frozen=True)
class GradientFlow(TableDisplay):
    """Norms at every step of one direction of one layer.

    NaN in the padding; the arrays of the cell state are None if the cell has none.
    """

    layer: int
    reverse: bool
    hidden: Float[Array, "batch time"]
    """Forward: ‖h_t‖."""
    memory: Float[Array, "batch time"] | None
    hidden_gradient: Float[Array, "batch time"]
    """Backward: ‖∂L/∂h_t‖, through everything that comes after."""
    memory_gradient: Float[Array, "batch time"] | None
    """‖∂L/∂c_t‖, through everything that comes after, including the hidden state of the same step."""
    projected_gradient: Float[Array, "batch time"]
    """‖∂L/∂(W x_t + b)‖: what step t adds to the gradient of the weights, before the product with its
    input.
    """

    def table(self) -> list[dict[str, float]]:
        """One row per step; each value is a mean over the sequences that have this step."""
        columns = {
            name: getattr(self, name)
            for name in ("hidden", "memory", "hidden_gradient", "memory_gradient", "projected_gradient")
        }
        means = {name: np.nanmean(values, axis=0) for name, values in columns.items() if values is not None}
        return [
            {"time": time, **{name: float(mean[time]) for name, mean in means.items()}}
            for time in range(self.hidden.shape[1])
        ]


def last_output_loss(unrolled: UnrolledNetwork) -> Loss:
    """The default loss: L = Σ_j output_j at the last real step of each sequence."""
    rows = torch.arange(len(unrolled.is_token), device=unrolled.is_token.device)
    last = unrolled.is_token.sum(dim=1) - 1
    return lambda outputs: outputs[rows, last].sum()


def gradient_flow(unrolled: UnrolledNetwork, loss: Loss | None = None) -> list[GradientFlow]:
    """Gradient norms of every hidden state and cell state, for a loss at the last step or for any loss of the
    outputs.

    The norms are per sequence: the loss must be a sum over the sequences, not a mean.
    """
    require_unrolled(unrolled)
    value = (loss or last_output_loss(unrolled))(unrolled.outputs)
    if value.dim() != 0 or not value.requires_grad:
        raise UsageError(
            f"the loss has shape {tuple(value.shape)}; it must be one number computed from the outputs."
        )
    parts = [part for trace in unrolled.traces for part in (*trace.hidden, *trace.memory, *trace.projected)]
    gradients = iter(
        torch.autograd.grad(value, parts, retain_graph=True, allow_unused=True, materialize_grads=True)
    )
    return [_flow(trace, unrolled, gradients) for trace in unrolled.traces]


def _flow(trace: DirectionTrace, unrolled: UnrolledNetwork, gradients: Iterator[Tensor]) -> GradientFlow:
    def norms(parts: tuple[Tensor, ...]) -> Float[Array, "batch time"]:
        return mask_padding(to_numpy(torch.stack(parts, dim=1).norm(dim=-1)), unrolled)

    def take(parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(next(gradients) for _ in parts)

    hidden, memory, projected = take(trace.hidden), take(trace.memory), take(trace.projected)
    return GradientFlow(
        layer=trace.layer,
        reverse=trace.reverse,
        hidden=norms(trace.hidden),
        memory=norms(trace.memory) if trace.memory else None,
        hidden_gradient=norms(hidden),
        memory_gradient=norms(memory) if memory else None,
        projected_gradient=norms(projected),
    )

"""The Jacobian of the plain RNN as an explicit product over the steps, and the bound on its norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from seqlab.cells.base import GatedCell
from seqlab.core.errors import UsageError
from seqlab.inspection.spectral_norm import spectral_norm
from seqlab.inspection.step_order import Array, mask_padding, order_by_distance, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork, require_unrolled


@dataclass(frozen=True)
class NormBound(TableDisplay):
    """‖∂h_T/∂h_{T-d}‖ and its bound (γ_max · λ_1)^d. NaN if a sequence is shorter."""

    largest_slope: float
    """γ_max: the steepest point of the activation that any unit of any step met."""
    spectral_norm: float
    """λ_1: the largest singular value of the recurrent matrix."""
    norms: Float[Array, "batch distance"]
    bounds: Float[Array, "distance"]

    @property
    def factor(self) -> float:
        """Below 1 the gradient must vanish; above 1 it may explode, but need not."""
        return self.largest_slope * self.spectral_norm

    def table(self) -> list[dict[str, float]]:
        largest = np.nanmax(self.norms, axis=0)
        return [
            {"distance": d, "norm": float(norm), "bound": float(bound)}
            for d, (norm, bound) in enumerate(zip(largest, self.bounds, strict=True))
        ]


def activation_slopes(
    unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False
) -> Float[Array, "batch time hidden"]:
    """activation′(a_t) of every unit, where a_t = W x_t + U h_{t-1} + b.

    For tanh each is in (0, 1], or rounds to 0 where tanh rounds to ±1.
    """
    trace = _rnn_trace(unrolled, layer, reverse)
    slopes = []
    for time, projected in enumerate(trace.projected):
        output, _ = trace.cell.step(projected, (trace.previous_hidden(time).detach(),))
        slopes.append(
            torch.autograd.grad(output.sum(), projected)[0]
        )  # elementwise: no unit depends on the sum of another
    return mask_padding(to_numpy(torch.stack(slopes, dim=1)), unrolled)


def rnn_jacobians(
    unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False
) -> Float[Array, "batch distance hidden hidden"]:
    """∂h_T/∂h_{T-d} = Π_{t = T-d+1 … T} diag(activation′(a_t)) U, the latest step leftmost (the transpose of
    Π Uᵀ diag(tanh′(a_t))).
    """
    trace = _rnn_trace(unrolled, layer, reverse)
    recurrent = to_numpy(trace.cell.recurrent)
    slopes = order_by_distance(activation_slopes(unrolled, layer=layer, reverse=reverse), unrolled, trace)
    num_sequences, time, size = slopes.shape
    jacobians = np.empty((num_sequences, time, size, size))
    jacobians[:, 0] = np.eye(size)
    for distance in range(1, time):
        jacobians[:, distance] = jacobians[:, distance - 1] @ (slopes[:, distance - 1, :, None] * recurrent)
    jacobians[np.isnan(slopes).any(axis=-1)] = np.nan
    return jacobians


def norm_bound(unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False) -> NormBound:
    """The submultiplicative bound: the norm of the product is at most the product of the norms, which is at
    most γ_max · λ_1 per step.

    Paper: Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", arXiv:1211.5063,
    section 2.1.
    """
    trace = _rnn_trace(unrolled, layer, reverse)
    steepest = float(np.nanmax(np.abs(activation_slopes(unrolled, layer=layer, reverse=reverse))))
    stretch = float(spectral_norm(to_numpy(trace.cell.recurrent)))
    norms = spectral_norm(rnn_jacobians(unrolled, layer=layer, reverse=reverse))
    return NormBound(steepest, stretch, norms, (steepest * stretch) ** np.arange(norms.shape[1], dtype=float))


def _rnn_trace(unrolled: UnrolledNetwork, layer: int, reverse: bool) -> DirectionTrace:
    require_unrolled(unrolled)
    trace = unrolled.trace(layer, reverse=reverse)
    cell = trace.cell
    if isinstance(cell, GatedCell) or cell.num_gates != 1 or cell.num_state_tensors != 1:
        raise UsageError(
            f"{type(cell).__name__} does not compute activation(W x + U h + b), so this product is not"
            " its Jacobian.",
            cure="jacobian_norms works for any cell; memory_path computes the additive path of a gated cell.",
        )
    return trace

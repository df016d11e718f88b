"""Jacobians between distant steps: how much a state depends on an earlier state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.inspection.spectral_norm import spectral_norm
from seqlab.inspection.step_order import Array, order_by_distance, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import UnrolledNetwork, require_unrolled

StatePart = Literal["hidden", "memory"]


@dataclass(frozen=True)
class JacobianNorms(TableDisplay):
    """‖∂h_T/∂h_{T-d}‖ for every distance d, where T is the last step of each sequence's scan.

    NaN if a sequence is shorter.
    """

    part: StatePart
    layer: int
    reverse: bool
    norms: Float[Array, "batch distance"]

    def table(self) -> list[dict[str, float]]:
        """One row per distance: mean, minimum and maximum over the sequences."""
        columns = (
            np.nanmean(self.norms, axis=0),
            np.nanmin(self.norms, axis=0),
            np.nanmax(self.norms, axis=0),
        )
        return [
            {
                "distance": distance,
                "mean": float(mean),
                "smallest": float(smallest),
                "largest": float(largest),
            }
            for distance, (mean, smallest, largest) in enumerate(zip(*columns, strict=True))
        ]


def jacobians(
    unrolled: UnrolledNetwork, part: StatePart = "hidden", *, layer: int = -1, reverse: bool = False
) -> Float[Array, "batch distance size size"]:
    """∂h_T/∂h_{T-d} (rows: h_T) by automatic differentiation, one backward pass per unit.

    The derivative includes every path from the earlier tensor. For an LSTM, ∂c_T/∂c_t includes the path
    through h_t and the gates of later steps, while ∂h_T/∂h_t is the path through the gates only, with c_t
    held fixed.
    """
    require_unrolled(unrolled)
    trace = unrolled.trace(layer, reverse=reverse)
    states = trace.memory if part == "memory" else trace.hidden
    if not states:
        raise UsageError(f"{type(trace.cell).__name__} has no cell state.", cure='Use part="hidden".')
    end = states[trace.last_step]
    rows = []
    for unit in range(end.shape[1]):
        gradients = torch.autograd.grad(
            end[:, unit].sum(), states, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        rows.append(torch.stack(gradients, dim=1))  # (batch, time, size)
    return order_by_distance(to_numpy(torch.stack(rows, dim=2)), unrolled, trace)


def jacobian_norms(
    unrolled: UnrolledNetwork, part: StatePart = "hidden", *, layer: int = -1, reverse: bool = False
) -> JacobianNorms:
    """The spectral norm of each matrix."""
    require_unrolled(unrolled)
    trace = unrolled.trace(layer, reverse=reverse)
    return JacobianNorms(
        part, trace.layer, reverse, spectral_norm(jacobians(unrolled, part, layer=layer, reverse=reverse))
    )

"""The additive path of a gated cell: the gradient through its keep gates alone, compared with the full
Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell
from seqlab.core.errors import UsageError
from seqlab.inspection.jacobians import jacobians
from seqlab.inspection.spectral_norm import spectral_norm
from seqlab.inspection.step_order import Array, order_by_distance, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork, require_unrolled


@dataclass(frozen=True)
class MemoryPath(TableDisplay):
    """Gradients between the last step T of a sequence's scan and d steps before it. NaN if a sequence is
    shorter.

        c_t = keep_t ⊙ c_{t-1} + write_t ⊙ candidate_t

    With the gates and the candidate held fixed, ∂c_T/∂c_{T-d} = diag(Π keep_t) for t = T-d+1 … T, which is
    never more than 1. In fact they depend on h_{t-1} and thereby on c_{t-1}: the full Jacobian includes that
    path and has no such bound.
    """

    layer: int
    reverse: bool
    kept: Float[Array, "batch distance hidden"]
    """Π keep_t of every unit."""
    direct_norms: Float[Array, "batch distance"]
    """‖diag(Π keep_t)‖: the unit that keeps most."""
    total_norms: Float[Array, "batch distance"]
    """‖∂c_T/∂c_{T-d}‖ over all paths."""
    indirect_norms: Float[Array, "batch distance"]
    """‖whole - direct‖: what comes through the hidden state."""

    def table(self) -> list[dict[str, float]]:
        """One row per distance, averaged over the sequences."""
        columns = {"direct": self.direct_norms, "whole": self.total_norms, "other": self.indirect_norms}
        means = {name: np.nanmean(values, axis=0) for name, values in columns.items()}
        return [
            {"distance": d, **{name: float(mean[d]) for name, mean in means.items()}}
            for d in range(self.kept.shape[1])
        ]


def get_gated_trace(unrolled: UnrolledNetwork, layer: int, reverse: bool) -> tuple[DirectionTrace, GatedCell]:
    """The trace of a direction and its cell; an error if the cell has no additive update."""
    require_unrolled(unrolled)
    trace = unrolled.trace(layer, reverse=reverse)
    if not isinstance(trace.cell, GatedCell):
        raise UsageError(
            f"{type(trace.cell).__name__} has no gates that combine the old state with a candidate."
        )
    return trace, trace.cell


def gates_over_time(trace: DirectionTrace, cell: GatedCell) -> tuple[Tensor, Tensor, Tensor]:
    """keep, write and candidate of every step, (batch, time, hidden) each, with their graph."""
    pairs = [cell.mixing_coefficients(gates) for gates in trace.gates]
    keep, write = (torch.stack(list(parts), dim=1) for parts in zip(*pairs, strict=True))
    return keep, write, torch.stack([gates["candidate"] for gates in trace.gates], dim=1)


def memory_path(unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False) -> MemoryPath:
    """The cell state of an LSTM, or the hidden state of a gated cell without a cell state (such as a GRU)."""
    trace, cell = get_gated_trace(unrolled, layer, reverse)
    keep = order_by_distance(
        to_numpy(gates_over_time(trace, cell)[0]), unrolled, trace
    )  # (batch, distance, hidden)
    later = np.concatenate([np.ones_like(keep[:, :1]), keep[:, :-1]], axis=1)
    kept = np.where(np.isnan(keep), np.nan, np.cumprod(np.nan_to_num(later), axis=1))
    direct = kept[..., None] * np.eye(kept.shape[-1])
    total = jacobians(unrolled, "memory" if trace.memory else "hidden", layer=layer, reverse=reverse)
    return MemoryPath(
        trace.layer, reverse, kept, spectral_norm(direct), spectral_norm(total), spectral_norm(total - direct)
    )

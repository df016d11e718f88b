"""The additive path of a gated cell: what its keeping gates alone let through, beside all that really
flows.
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
from seqlab.inspection.unroll import DirectionTrace, UnrolledNetwork


@dataclass(frozen=True)
class MemoryPath:
    """Between the end T of a sequence's walk and d steps before it. NaN where a sequence is shorter.

    c_t = keep_t ⊙ c_{t-1} + write_t ⊙ candidate_t with the gates and the candidate held fixed:
    ∂c_T/∂c_{T-d} = diag(Π keep_t),  t = T-d+1 … T, never more than 1 in truth they see h_{t-1}, which sees
    c_{t-1}:   the whole Jacobian has that way too, and no bound
    """

    layer: int
    reverse: bool
    kept: Float[Array, "batch distance hidden"]
    """Π keep_t of every unit."""
    direct_norms: Float[Array, "batch distance"]
    """‖diag(Π keep_t)‖: the unit that keeps most."""
    total_norms: Float[Array, "batch distance"]
    """‖∂c_T/∂c_{T-d}‖ with every way counted."""
    indirect_norms: Float[Array, "batch distance"]
    """‖whole - direct‖: what comes through the hidden state."""

    def table(self) -> list[dict[str, float]]:
        """One line per distance, means over the sequences."""
        columns = {"direct": self.direct_norms, "whole": self.total_norms, "other": self.indirect_norms}
        means = {name: np.nanmean(values, axis=0) for name, values in columns.items()}
        return [
            {"distance": d, **{name: float(mean[d]) for name, mean in means.items()}}
            for d in range(self.kept.shape[1])
        ]


def get_gated_trace(unrolled: UnrolledNetwork, layer: int, reverse: bool) -> tuple[DirectionTrace, GatedCell]:
    """The track and its cell, refused where the cell does not mix old and new."""
    trace = unrolled.trace(layer, reverse=reverse)
    if not isinstance(trace.cell, GatedCell):
        raise UsageError(
            f"{type(trace.cell).__name__} has no gates: it does not mix what it kept with a candidate."
        )
    return trace, trace.cell


def gates_over_time(trace: DirectionTrace, cell: GatedCell) -> tuple[Tensor, Tensor, Tensor]:
    """keep, write and candidate of every step, (batch, time, hidden) each, with their graph."""
    pairs = [cell.mixing_coefficients(gates) for gates in trace.gates]
    keep, write = (torch.stack(list(parts), dim=1) for parts in zip(*pairs, strict=True))
    return keep, write, torch.stack([gates["candidate"] for gates in trace.gates], dim=1)


def memory_path(unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False) -> MemoryPath:
    """The memory of an LSTM, or the hidden state of a cell that has gates but no memory (a GRU and its
    relatives).
    """
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

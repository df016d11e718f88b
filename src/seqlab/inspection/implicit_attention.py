"""Gated recurrence as implicit attention: the weight of every past candidate in the current state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from seqlab.cells.derivations.closed_form import unrolled_weights_per_step
from seqlab.inspection.memory_path import gates_over_time, get_gated_trace
from seqlab.inspection.step_order import Array, mask_padding, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import UnrolledNetwork


@dataclass(frozen=True)
class ImplicitAttention(TableDisplay):
    """A gated state, unrolled into a weighted sum of all candidates so far.

        state_t = keep_t ⊙ state_{t-1} + write_t ⊙ candidate_t
                = Σ_i weight_{t,i} ⊙ candidate_i + start_t ⊙ state_0
        weight_{t,i} = write_i ⊙ Π_{j = i+1 … t} keep_j          start_t = Π_{j = 1 … t} keep_j

    The state is the cell state, or the hidden state of a cell without one. If write = 1 - keep (GRU, coupled
    LSTM), the weights of a row and its start sum to 1: attention whose weights depend on each other through
    the gates. The weights of an LSTM need not. In a backward scan i runs from the other end. A row is NaN if
    its sequence has no such step.
    """

    layer: int
    reverse: bool
    weights: Float[Array, "batch target source hidden"]
    initial_weights: Float[Array, "batch target hidden"]
    """The weight of the state before the first step."""
    candidates: Float[Array, "batch source hidden"]
    initial_state: Float[Array, "batch hidden"]
    states: Float[Array, "batch target hidden"]
    """The states as the recurrence made them."""

    @property
    def alignment(self) -> Float[Array, "batch target source"]:
        """The weights, averaged over the units."""
        return self.weights.mean(axis=-1)

    @property
    def reconstructed(self) -> Float[Array, "batch target hidden"]:
        """Σ_i weight_{t,i} ⊙ candidate_i + start_t ⊙ state_0: the states from the closed form."""
        candidates = np.nan_to_num(self.candidates)
        return (self.weights * candidates[:, None]).sum(axis=2) + self.initial_weights * self.initial_state[
            :, None
        ]

    @property
    def error(self) -> float:
        """The largest difference between the closed form and the recurrence, due to rounding only."""
        return float(np.nanmax(np.abs(self.reconstructed - self.states)))

    def display_sentences(self) -> list[str]:
        return [
            f"layer {self.layer}{', backward' if self.reverse else ''}; the first of {len(self.weights):,} sequences",
            f"closed form and recurrence differ by at most {self.error:.1e}",
        ]

    def table(self, sequence: int = 0) -> list[dict[str, float]]:
        """One row per step of a sequence: the weight of the start, of the step itself, and of all steps in
        between.
        """
        lines = []
        for time, (row, start) in enumerate(
            zip(self.alignment[sequence], self.initial_weights[sequence].mean(axis=-1), strict=True)
        ):
            lines.append(
                {
                    "time": time,
                    "start": float(start),
                    "now": float(row[time]),
                    "past": float(row.sum() - row[time]),
                }
            )
        return lines


def implicit_attention(
    unrolled: UnrolledNetwork, *, layer: int = -1, reverse: bool = False
) -> ImplicitAttention:
    """The weights of every candidate in every state, unit by unit (batch · time² · hidden numbers)."""
    trace, cell = get_gated_trace(unrolled, layer, reverse)
    keep, write, candidates = (
        part.detach().double() for part in gates_over_time(trace, cell)
    )  # (batch, time, hidden) each
    is_live = unrolled.is_token.unsqueeze(-1)
    keep, write = (
        torch.where(is_live, keep, 1.0),
        torch.where(is_live, write, 0.0),
    )  # outside a sequence the state does not change
    start, weights = unrolled_weights_per_step(
        *[part[:, trace.scan_order].transpose(0, 1) for part in (keep, write)]
    )
    start, weights = (
        start[trace.scan_order],
        weights[trace.scan_order][:, trace.scan_order],
    )  # from scan order to time order; the mapping is its own inverse
    states = np.stack([to_numpy(part) for part in trace.carry], axis=1)
    return ImplicitAttention(
        layer=trace.layer,
        reverse=reverse,
        weights=mask_padding(to_numpy(weights.permute(2, 0, 1, 3)), unrolled),
        initial_weights=mask_padding(to_numpy(start.transpose(0, 1)), unrolled),
        candidates=mask_padding(to_numpy(candidates), unrolled),
        initial_state=to_numpy(trace.initial[-1]),
        states=mask_padding(states, unrolled),
    )

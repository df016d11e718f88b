"""Gate statistics: how open the gates are, and how often they are saturated, so that they hardly learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.inspection.step_order import Array, mask_padding, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import UnrolledNetwork, require_unrolled

NEARLY_CLOSED = 0.1
NEARLY_OPEN = 0.9
CANDIDATE = "candidate"
"""Listed by a cell with its gates, but not a gate: its values have both signs."""


@dataclass(frozen=True)
class GateStatistics(TableDisplay):
    """One gate of one direction of one layer, over all units and real steps."""

    layer: int
    reverse: bool
    gate: str
    mean: float
    closed_share: float
    """Share of values below 0.1."""
    open_share: float
    """Share of values above 0.9."""
    num_zero: int
    """Values that are exactly 0 in float32: nothing passes, and no gradient reaches the gate."""
    num_one: int
    """Values that are exactly 1 in float32: a sigmoid only tends to 1, but rounding takes it there from about
    17 on.
    """
    num_values: int
    over_time: Float[Array, "time"]
    """Mean at every step, over the sequences that have it."""

    def display_sentences(self) -> list[str]:
        return [
            (
                f"{self.gate} gate, layer {self.layer}{', backward' if self.reverse else ''}: mean {self.mean:.3f};"
                f" {self.closed_share:.1%} below {NEARLY_CLOSED}, {self.open_share:.1%} above {NEARLY_OPEN}"
            ),
            (
                f"of {self.num_values:,} values {self.num_zero:,} are exactly 0 and {self.num_one:,} exactly 1 in"
                " float32"
            ),
        ]

    def table(self) -> list[dict[str, float]]:
        """The mean at every step."""
        return [{"time": time, "mean": float(mean)} for time, mean in enumerate(self.over_time)]


def gate_statistics(unrolled: UnrolledNetwork) -> list[GateStatistics]:
    """Every gate of every layer and direction.

    The candidate is not a gate and is excluded; its values have both signs.
    """
    require_unrolled(unrolled)
    statistics = []
    for trace in unrolled.traces:
        for gate in [name for name in (trace.gates[0] if trace.gates else {}) if name != CANDIDATE]:
            values = torch.stack([gates[gate] for gates in trace.gates], dim=1)  # (batch, time, hidden)
            statistics.append(
                _statistics(trace.layer, trace.reverse, gate, mask_padding(to_numpy(values), unrolled))
            )
    if not statistics:
        raise UsageError(
            "this network has no gates.",
            cure="Use an LSTM or a GRU; a plain RNN cell has no gates.",
        )
    return statistics


def _statistics(
    layer: int, reverse: bool, gate: str, values: Float[Array, "batch time hidden"]
) -> GateStatistics:
    real = values[~np.isnan(values)]
    rounded = real.astype(np.float32)
    return GateStatistics(
        layer=layer,
        reverse=reverse,
        gate=gate,
        mean=float(real.mean()),
        closed_share=float((real < NEARLY_CLOSED).mean()),
        open_share=float((real > NEARLY_OPEN).mean()),
        num_zero=int((rounded == 0).sum()),
        num_one=int((rounded == 1).sum()),
        num_values=len(real),
        over_time=np.nanmean(values, axis=(0, 2)),
    )

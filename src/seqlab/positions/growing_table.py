"""A table with one row per position, computed when a position is first needed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from seqlab.positions.base import PositionIds


class PositionTable:
    """Rows for positions 0, 1, 2, … in the dtype and on the device of the caller; the table grows for longer
    sequences.

    `compute` maps positions to rows, both in float64. The table is not a buffer of the network, because a
    float32 table converted to float64 would not be exact.
    """

    def __init__(
        self,
        compute: Callable[[Float[Tensor, " places"]], Float[Tensor, "places size"]],
        *,
        length: int = 1000,
    ) -> None:
        self._compute = compute
        self._length = length
        self._rows: Tensor | None = None

    def lookup(self, position_ids: PositionIds, like: Tensor) -> Float[Tensor, "#batch time size"]:
        return F.embedding(position_ids, self.rows(int(position_ids.max()) + 1, like))

    def rows(self, num_positions: int, like: Tensor) -> Float[Tensor, "places size"]:
        """The first `num_positions` rows, or more."""
        rows = self._rows  # read once: another thread may replace it by a longer table, but never changes it
        length = self._length if rows is None else len(rows)
        while num_positions > length:
            length *= 2
        if rows is None or len(rows) < length or rows.dtype != like.dtype or rows.device != like.device:
            with torch.inference_mode(
                False
            ):  # the table outlives this prediction; torch.compile does not support `mode=`
                rows = self._rows = self._compute(torch.arange(length, dtype=torch.float64)).to(like)
        return rows

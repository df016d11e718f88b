"""Rotary positional embedding (RoPE): queries and keys are rotated by their position, so that a score
depends only on their distance.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import ArgumentError
from seqlab.positions.base import PositionalEncoding, PositionIds, positional_encodings
from seqlab.positions.growing_table import PositionTable


@positional_encodings.register("rotary")
class RotaryPositions(PositionalEncoding):
    """Feature j and feature j + d/2 of a head form a point that is rotated by i / base^(2j/d) at position i.

        (a, b)  ->  (a cos θ - b sin θ,  b cos θ + a sin θ),      θ = i / base^(2j/d)

    The product of a rotated query and a rotated key depends only on the difference of their positions. Paper:
    Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", arXiv:2104.09864, section
    3.2; there adjacent features form a pair, here features half a head apart, as in most published weights.
    """

    is_rotary = True

    def __init__(self, head_size: int, *, base: float = 10000.0) -> None:
        super().__init__()
        if head_size % 2:
            raise ArgumentError(
                "head_size",
                head_size,
                f"rotary positions rotate pairs of features, and {head_size} is odd.",
                allowed="even numbers",
                cure=f"Use head_size={head_size + 1}, or positions=sinusoidal.",
            )
        self._rates = base ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)  # (head / 2)
        self._table = PositionTable(self._compute)

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        return cls(head_size, base=settings.rotary_base)

    def apply_rotary(
        self, heads: Float[Tensor, "batch heads time head"], position_ids: PositionIds
    ) -> Float[Tensor, "batch heads time head"]:
        cos, sin = (
            self._table.lookup(position_ids, heads).unsqueeze(1).chunk(2, dim=-1)
        )  # (batch, 1, time, head) each
        other = heads.roll(heads.shape[-1] // 2, dims=-1)  # the other half of each pair
        return torch.addcmul(heads * cos, other, sin)

    def _compute(self, positions: Float[Tensor, " places"]) -> Float[Tensor, "places size"]:
        """cos θ for both halves of a head, then -sin θ for the first half and sin θ for the second."""
        angles = positions[:, None] * self._rates
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([cos, cos, -sin, sin], dim=-1)

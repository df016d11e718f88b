"""Sinusoidal positional encoding: sines and cosines of many wavelengths, added to the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.positions.base import PositionalEncoding, PositionIds, positional_encodings
from seqlab.positions.growing_table import PositionTable


@positional_encodings.register("sinusoidal")
class SinusoidalPositions(PositionalEncoding):
    """A fixed row of sines and cosines for each position.

        x + P[position],      P[i, 2j] = sin(i / 10000^(2j/d)),      P[i, 2j+1] = cos(i / 10000^(2j/d))

    The table has 1,000 positions and grows for longer sequences. Paper: Vaswani et al. 2017, arXiv:1706.03762,
    section 3.5.
    """

    def __init__(self, hidden_size: int, *, max_length: int = 1000) -> None:
        super().__init__()
        self._hidden_size = hidden_size
        self._table = PositionTable(self._compute, length=max_length)

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        return cls(hidden_size)

    def add(
        self, steps: Float[Tensor, "batch time hidden"], position_ids: PositionIds
    ) -> Float[Tensor, "batch time hidden"]:
        return steps + self._table.lookup(position_ids, steps)

    def rows(self, num_positions: int, like: Tensor) -> Float[Tensor, "places hidden"]:
        """The encoding of at least the first `num_positions` positions."""
        return self._table.rows(num_positions, like)

    def _compute(self, positions: Float[Tensor, " places"]) -> Float[Tensor, "places hidden"]:
        pairs = torch.arange(0, self._hidden_size, 2, dtype=torch.float64)
        angles = positions[:, None] * torch.exp(-math.log(10000.0) * pairs / self._hidden_size)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, : self._hidden_size]


def sinusoid_curves(features: Sequence[int], *, size: int, num_positions: int) -> dict[int, list[float]]:
    """The encoding of selected features (of `size`) by position, as plain numbers for a chart.

    >>> sinusoid_curves([1], size=2, num_positions=3)
    {1: [1.0, 0.5403023058681398, -0.4161468365471424]}
    """
    rows = SinusoidalPositions(size, max_length=num_positions).rows(
        num_positions, torch.empty(0, dtype=torch.float64)
    )
    return {feature: rows[:num_positions, feature].tolist() for feature in features}

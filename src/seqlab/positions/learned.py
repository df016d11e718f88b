"""Learned positional embeddings: one row per position, added to the steps."""

from __future__ import annotations

from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.core.errors import ArgumentError
from seqlab.positions.base import PositionalEncoding, PositionIds, positional_encodings


@positional_encodings.register("learned")
class LearnedPositions(PositionalEncoding):
    """A learned row for each position; positions beyond the table raise an error.

        x + P[position]

    Paper: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", arXiv:1705.03122, section 3.1.
    """

    def __init__(self, hidden_size: int, *, max_length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_length, hidden_size) * 0.02)

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        return cls(hidden_size, max_length=settings.max_positions)

    def add(
        self, steps: Float[Tensor, "batch time hidden"], position_ids: PositionIds
    ) -> Float[Tensor, "batch time hidden"]:
        longest = int(position_ids.max()) + 1
        if longest > len(self.table):
            raise ArgumentError(
                "max_length",
                len(self.table),
                f"the sequence has {longest} steps, but the model learned only {len(self.table)} positions.",
                cure=f"Shorten the input, or train with max_length={longest} or positions=sinusoidal.",
            )
        return steps + nn.functional.embedding(position_ids, self.table)

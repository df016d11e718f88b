"""The interface of positional encodings."""

from __future__ import annotations

from typing import Any, Self

from jaxtyping import Float, Int
from torch import Tensor, nn

from seqlab.positions.registry import positional_encodings as positional_encodings

PositionIds = Int[Tensor, "#batch time"]
"""The positions of the steps; a single row if they are the same for all sequences."""


class PositionalEncoding(nn.Module):
    """Encodes positions in one of three ways; an encoding overrides one of them, and the others do nothing by
    default.

    add           rows that are added to the steps before the first layer
    apply_rotary  queries and keys are rotated by an angle that grows with their position
    bias          numbers that are added to the scores, by the positions of query and key
    """

    is_rotary: bool = False
    """Whether `apply_rotary` does anything; the attention is spared a detour where it does not."""

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        """Build the positional encoding from a section `model`."""
        return cls()

    def add(
        self, steps: Float[Tensor, "batch time hidden"], position_ids: PositionIds
    ) -> Float[Tensor, "batch time hidden"]:
        return steps

    def apply_rotary(
        self, heads: Float[Tensor, "batch heads time head"], position_ids: PositionIds
    ) -> Float[Tensor, "batch heads time head"]:
        return heads

    def bias(
        self, query_ids: Int[Tensor, "#batch target"], key_ids: Int[Tensor, "#batch source"]
    ) -> Float[Tensor, "#batch heads target source"] | None:
        return None

"""What every kind of positions can do to tell a step's place."""

from __future__ import annotations

from typing import Any, Self

from jaxtyping import Float, Int
from torch import Tensor, nn

from seqlab.core.registry import Registry

Places = Int[Tensor, "#batch time"]
"""Where the steps stand; one row for all sequences is enough when they stand alike."""


class Positions(nn.Module):
    """Tells places by one of three ways; a kind takes one and leaves the others as they are here, where they do nothing.

    add    rows that are added to the steps before the first layer
    turn   queries and keys are turned by an angle that grows with their place
    bias   numbers that are added to the scores, by the places of query and key
    """

    turns: bool = False
    """Whether `turn` does anything; the attention is spared a detour where it does not."""

    @classmethod
    def build(cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any) -> Self:
        """The positions that a section `model` describes."""
        return cls()

    def add(self, steps: Float[Tensor, "batch time hidden"], places: Places) -> Float[Tensor, "batch time hidden"]:
        return steps

    def turn(self, heads: Float[Tensor, "batch heads time head"], places: Places) -> Float[Tensor, "batch heads time head"]:
        return heads

    def bias(self, queries: Int[Tensor, "#batch target"], keys: Int[Tensor, "#batch source"]) -> Float[Tensor, "#batch heads target source"] | None:
        return None


positions: Registry[type[Positions]] = Registry("positions", package="seqlab.positions")

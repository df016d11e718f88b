"""ALiBi: a penalty on the score that grows linearly with the distance, with a different slope for each
head.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from seqlab.positions.base import PositionalEncoding, positional_encodings


@positional_encodings.register("alibi")
class AlibiPositions(PositionalEncoding):
    """A penalty on the score of query i and key j that grows with their distance.

        score(i, j) - slope_h |i - j|,      slope_h = 2^(-8h/n) for the heads h = 1 … n

    Nothing is learned, and distances beyond those seen in training extrapolate. The paper covers causal
    networks only, where j ≤ i; in a bidirectional network the penalty here is symmetric. Paper: Press et al.
    2022, "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    arXiv:2108.12409.
    """

    _like: Tensor

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.slopes = alibi_slopes(num_heads)
        self.register_buffer(
            "_like", torch.empty(0), persistent=False
        )  # tracks the dtype and device of the network

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        return cls(num_heads)

    def bias(
        self, query_ids: Int[Tensor, "#batch target"], key_ids: Int[Tensor, "#batch source"]
    ) -> Float[Tensor, "#batch heads target source"]:
        distances = (
            (query_ids[:, None, :, None] - key_ids[:, None, None, :]).abs().to(self._like)
        )  # (batch, 1, target, source)
        return distances * -self._like.new_tensor(self.slopes)[:, None, None]


def alibi_slopes(num_heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), …, 2^(-8) for n heads when n is a power of two.

    Other numbers of heads take the slopes of the next smaller power of two, then every other slope of twice
    that power, as the paper's own code does.

    >>> alibi_slopes(4), alibi_slopes(3)
    ([0.25, 0.0625, 0.015625, 0.00390625], [0.0625, 0.00390625, 0.25])
    """
    power = 1 << (num_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * head / power) for head in range(1, power + 1)]
    between = [2.0 ** (-8 * head / (2 * power)) for head in range(1, 2 * power + 1, 2)]
    return slopes + between[: num_heads - power]

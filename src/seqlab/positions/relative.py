"""Relative position bias (T5): a learned number per distance between query and key, added to their score;
large distances share one.
"""

from __future__ import annotations

import math
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.positions.base import PositionalEncoding, positional_encodings


@positional_encodings.register("relative")
class RelativePositions(PositionalEncoding):
    """A learned number for each distance and head, in one table B for all layers.

        score(i, j) + B[bucket(j - i), head]

    Small distances have their own buckets, larger ones share buckets of increasing width, and all distances
    from `max_distance` on share the last. A causal network uses all buckets for earlier steps, any other
    network half of them for each side. Paper: Raffel et al. 2020, "Exploring the Limits of Transfer Learning
    with a Unified Text-to-Text Transformer", arXiv:1910.10683, section 2.1.
    """

    _buckets: Tensor

    def __init__(
        self, num_heads: int, *, causal: bool, num_buckets: int = 32, max_distance: int = 128
    ) -> None:
        super().__init__()
        self.causal = causal
        self.table = nn.Parameter(torch.randn(num_buckets, num_heads) * 0.02)
        self.register_buffer(
            "_buckets",
            torch.tensor(
                relative_position_buckets(causal=causal, num_buckets=num_buckets, max_distance=max_distance)
            ),
            persistent=False,
        )

    @classmethod
    def from_settings(
        cls, *, hidden_size: int, num_heads: int, head_size: int, causal: bool, settings: Any
    ) -> Self:
        return cls(num_heads, causal=causal)

    def bias(
        self, query_ids: Int[Tensor, "#batch target"], key_ids: Int[Tensor, "#batch source"]
    ) -> Float[Tensor, "#batch heads target source"]:
        farthest = len(self._buckets) // 2
        offsets = (key_ids[:, None, :] - query_ids[:, :, None]).clamp(
            -farthest, farthest
        )  # (batch, target, source)
        return F.embedding(self._buckets[offsets + farthest], self.table).permute(0, 3, 1, 2)


def relative_position_buckets(*, causal: bool, num_buckets: int, max_distance: int) -> list[int]:
    """The bucket of every offset (position of the key - position of the query) from -max_distance to
    max_distance.

    A side with n buckets: a distance below n/2 is its own bucket, then

        bucket = n/2 + ⌊ n/2 · log(distance / (n/2)) / log(max_distance / (n/2)) ⌋,  at most n - 1

    The buckets of keys after the query follow those of the keys before it. A causal query sees no later keys;
    they all count as distance 0.

    >>> relative_position_buckets(causal=False, num_buckets=8, max_distance=8)
    [3, 3, 3, 3, 3, 2, 2, 1, 0, 5, 6, 6, 7, 7, 7, 7, 7]
    """
    size = num_buckets if causal else num_buckets // 2
    before = [_bucket(distance, size, max_distance) for distance in range(max_distance, -1, -1)]
    behind = [
        0 if causal else size + _bucket(distance, size, max_distance)
        for distance in range(1, max_distance + 1)
    ]
    return before + behind


def _bucket(distance: int, size: int, max_distance: int) -> int:
    exact = size // 2
    if distance < exact:
        return distance
    return min(
        exact + int(math.log(distance / exact) / math.log(max_distance / exact) * (size - exact)), size - 1
    )

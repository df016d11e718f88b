"""Sliding-window attention in blocks: time and memory grow linearly with the number of steps."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

MIN_BLOCK_SIZE = 16
MIN_NUM_BLOCKS = 5


def blockwise_is_cheaper(time: int, window: int) -> bool:
    """Whether block-wise attention pays off for this many steps."""
    return time >= MIN_NUM_BLOCKS * block_size(window)


def block_size(window: int) -> int:
    """A block is as wide as the window, so that a step's window ends in the adjacent block; tiny blocks
    would cost more than they save.
    """
    return max(window, MIN_BLOCK_SIZE)


def attend_blockwise(
    q: Float[Tensor, "batch heads time head"],
    k: Float[Tensor, "batch kv_heads time head"],
    v: Float[Tensor, "batch kv_heads time head"],
    *,
    window: int,
    causal: bool,
    may_attend: Bool[Tensor, "batch time"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads time head"]:
    """softmax(q kᵀ / √head) v over the steps nearer than `window`, as a mask on full attention would give.

    The steps are split into blocks. The queries of a block attend to the keys of their own block and of the
    previous one (and, unless causal, the next one), and a small mask removes keys outside the window. Idea:
    Beltagy et al. 2020, "Longformer: The Long-Document Transformer", arXiv:2004.05150, section 3.1 and
    appendix A.
    """
    batch, _, time, _ = q.shape
    size = block_size(window)
    num_blocks = -(-time // size)
    num_neighbors = 1 if causal else 2
    queries = _blocks(q, size, num_blocks)  # (batch * blocks, heads, size, head)
    keys, values = (_with_neighbors(part, size, num_blocks, num_neighbors=num_neighbors) for part in (k, v))
    real = torch.ones(batch, time, dtype=torch.bool, device=q.device) if may_attend is None else may_attend
    seen = F.pad(real, (size, num_blocks * size - time + (num_neighbors - 1) * size)).unfold(
        1, (num_neighbors + 1) * size, size
    )  # (batch, blocks, seen)
    mask = _near(size, window=window, causal=causal, device=q.device) & seen.flatten(0, 1)[:, None, None, :]
    mixed = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, dropout_p=dropout, enable_gqa=q.shape[1] != k.shape[1]
    )
    return mixed.unflatten(0, (batch, num_blocks)).transpose(1, 2).flatten(2, 3)[:, :, :time]


def _blocks(
    steps: Float[Tensor, "batch heads time head"], size: int, num_blocks: int
) -> Float[Tensor, "blocks heads size head"]:
    """Every block as a separate sequence; the last one is padded."""
    padded = F.pad(steps, (0, 0, 0, num_blocks * size - steps.shape[2]))
    return padded.unflatten(2, (num_blocks, size)).transpose(1, 2).flatten(0, 1)


def _with_neighbors(
    steps: Float[Tensor, "batch heads time head"], size: int, num_blocks: int, *, num_neighbors: int
) -> Float[Tensor, "blocks heads seen head"]:
    """Every block with the previous block and, with two neighbors, the next one; zeros beyond the ends."""
    padded = F.pad(steps, (0, 0, size, num_blocks * size - steps.shape[2] + (num_neighbors - 1) * size))
    blocks = padded.unflatten(2, (-1, size)).transpose(1, 2)  # (batch, blocks + neighbors, heads, size, head)
    shifted = [blocks[:, first : first + num_blocks] for first in range(num_neighbors + 1)]
    return torch.cat(shifted, dim=3).flatten(0, 1)


def _near(size: int, *, window: int, causal: bool, device: torch.device) -> Bool[Tensor, "size seen"]:
    """Which keys of a block and its neighbors are inside the window of the block's queries."""
    keys = torch.arange(-size, size if causal else 2 * size, device=device)
    distance = torch.arange(size, device=device)[:, None] - keys
    return (distance < window) & (distance >= (0 if causal else 1 - window))

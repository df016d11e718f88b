"""The k best of a large vocabulary, in two stages."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 64
"""Block size: adjacent tokens of which the first pass considers only the maximum."""


class TopCandidates(NamedTuple):
    """The best first."""

    log_probs: Float[Tensor, "hypotheses k"]
    tokens: Int[Tensor, "hypotheses k"]


def top_candidates(log_probs: Float[Tensor, "hypotheses vocab"], k: int) -> TopCandidates:
    """The k best tokens of each row, exactly; all tokens if there are fewer than k.

    One fast pass computes the maximum of every block. The k best tokens are in the k blocks with the highest
    maxima, because every other block has at least k better tokens before it. Only these blocks are searched.
    """
    rows, vocab = log_probs.shape
    k, num_blocks = min(k, vocab), vocab // BLOCK
    if num_blocks < 4 * k or rows == 1:  # too few blocks to skip
        return _argmax_candidates(log_probs) if k == 1 else TopCandidates(*log_probs.topk(k, dim=1))
    blocks = log_probs[:, : num_blocks * BLOCK].unflatten(1, (num_blocks, BLOCK))
    maxima = blocks.amax(dim=2)  # (rows, blocks)
    best = maxima.argmax(dim=1, keepdim=True) if k == 1 else maxima.topk(k, dim=1).indices  # (rows, k)
    pool = blocks.gather(1, best.unsqueeze(2).expand(-1, -1, BLOCK)).flatten(1)  # (rows, k * BLOCK)
    ids = (best.unsqueeze(2) * BLOCK + torch.arange(BLOCK, device=best.device)).flatten(1)
    if num_blocks * BLOCK < vocab:  # the last, shorter block is always searched
        rest = torch.arange(num_blocks * BLOCK, vocab, device=best.device).expand(rows, -1)
        pool, ids = (
            torch.cat([pool, log_probs[:, num_blocks * BLOCK :]], dim=1),
            torch.cat([ids, rest], dim=1),
        )
    best_of_pool = _argmax_candidates(pool) if k == 1 else TopCandidates(*pool.topk(k, dim=1))
    return TopCandidates(best_of_pool.log_probs, ids.gather(1, best_of_pool.tokens))


def _argmax_candidates(log_probs: Float[Tensor, "hypotheses vocab"]) -> TopCandidates:
    """Ties go to the first, which `topk` does not guarantee."""
    return TopCandidates(*log_probs.max(dim=1, keepdim=True))

"""A scored text split into blocks: adjacent tokens are not independent, but blocks of hundreds nearly are.

Blocks of a short text are shorter, so that there are enough to resample. Blocks of tokens are for one model.
Models with different tokenizers are scored on the same blocks of characters:

    bits per character = Σ nats of the tokens / (log 2 · characters)

A token belongs to the block in which it ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from seqlab.metrics.items import SumItems, exp_ratio, ratio_items, ratio_of_sums

BLOCK_TOKENS = 512
"""Maximum number of tokens per block."""
BLOCK_CHARACTERS = 2048
"""Maximum number of characters per block, for models with different tokenizers."""
MIN_BLOCKS = 20
"""Number of blocks that even a short text is split into."""
MAX_SHRINK = 16
"""Blocks may be shorter by this factor: 32 tokens, 128 characters.

A shorter text has fewer blocks, possibly too few for an interval.
"""


@dataclass(frozen=True)
class TokenStream:
    """The negative log-likelihood of every token of a text in nats, and the number of characters up to its
    end.
    """

    nats: Float[np.ndarray, " tokens"]
    ends: Float[np.ndarray, " tokens"]
    num_unknown: int = 0
    """Number of out-of-vocabulary tokens, whose characters were not predicted."""
    predicts_whitespace: bool = True
    """Whether the tokens contain the whitespace between words, so that it was predicted too."""

    @classmethod
    def from_log_probs(
        cls,
        log_probs: Float[np.ndarray, " tokens"],
        lengths: Num[np.ndarray, " tokens"],
        *,
        characters: int,
        num_unknown: int = 0,
        predicts_whitespace: bool = True,
    ) -> TokenStream:
        """`lengths` may be inexact, since a token does not always reveal how much text it covers; they are
        rescaled to the correct sum.
        """
        ends = np.cumsum(lengths, dtype=np.float64)
        nats = -log_probs.astype(np.float64)
        return cls(nats, ends * (characters / ends[-1]), num_unknown, predicts_whitespace)

    @property
    def block_size(self) -> int:
        """The number of tokens per block."""
        return int(choose_block_size(len(self.nats), max_size=BLOCK_TOKENS))

    @property
    def blocks(self) -> Int[np.ndarray, " tokens"]:
        """The block index of each token."""
        return np.arange(len(self.nats)) // self.block_size

    def items(self) -> dict[str, SumItems]:
        """The items of the scores of a language model."""
        starts = np.arange(0, len(self.nats), self.block_size)
        nats, sizes = np.add.reduceat(self.nats, starts), np.diff(np.append(starts, len(self.nats)))
        characters = np.add.reduceat(np.diff(self.ends, prepend=0.0), starts)
        return {
            "nats_per_token": ratio_items(nats, sizes),
            "bits_per_token": ratio_items(nats, sizes, _bits),
            "bits_per_character": ratio_items(nats, characters, _bits),
            "perplexity": ratio_items(nats, sizes, exp_ratio),
        }

    def character_items(self, *, num_characters: float) -> SumItems:
        """Bits per character on blocks of equal text; text after `num_characters` characters is ignored."""
        size = choose_block_size(num_characters, max_size=BLOCK_CHARACTERS)
        num_blocks = max(1, math.ceil(num_characters / size))
        inside = self.ends <= num_characters * (1 + 1e-9)
        block = np.minimum(np.ceil(self.ends[inside] / size).astype(np.int64) - 1, num_blocks - 1)
        nats = np.bincount(block, weights=self.nats[inside], minlength=num_blocks)
        characters = np.diff(np.minimum(np.arange(num_blocks + 1) * float(size), num_characters))
        return ratio_items(nats, characters, _bits)


def choose_block_size(length: float, *, max_size: int) -> float:
    """
    >>> choose_block_size(1_000_000, max_size=512), choose_block_size(2000, max_size=512), choose_block_size(9, max_size=512)
    (512, 100, 32)
    """
    return max(max_size // MAX_SHRINK, min(max_size, length // MIN_BLOCKS))


def _bits(sums: Float[np.ndarray, "resamples parts"]) -> Float[np.ndarray, " resamples"]:
    return ratio_of_sums(sums) / math.log(2)

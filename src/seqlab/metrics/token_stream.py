"""A scored text, cut into blocks: neighbouring tokens are not independent of each other, blocks of hundreds nearly are.

Blocks of a short text are shorter, so that there are some to draw. Blocks of tokens serve one model. Models that cut the same text into
different tokens are scored on the same blocks of characters:

    bits per character = Σ nats of the tokens / (log 2 · characters)

A token belongs to the block in which it ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from seqlab.metrics.items import Sums, exponential, ratio, ratios

BLOCK = 512
"""Tokens that are drawn together."""
CHARACTERS = 2048
"""Characters that are drawn together where tokens differ."""
ENOUGH = 20
"""Blocks that even a short text is cut into."""
LEAST = 16
"""By how much a block may be shorter: 32 tokens, 128 characters. Of less text there are fewer blocks, and soon too few for an interval."""


@dataclass(frozen=True)
class Stream:
    """The surprise of every token of a text in nats, and how many characters of the text there are up to its end."""

    nats: Float[np.ndarray, " tokens"]
    ends: Float[np.ndarray, " tokens"]
    num_unknown: int = 0
    """Tokens that stand for any piece the vocabulary does not have: their characters were not foreseen."""

    @classmethod
    def of(cls, log_probs: Float[np.ndarray, " tokens"], lengths: Num[np.ndarray, " tokens"], *, characters: int, num_unknown: int = 0) -> Stream:
        """`lengths` may be off, since a token does not always say how much text it stands for; their sum is put right."""
        ends = np.cumsum(lengths, dtype=np.float64)
        return cls(-log_probs.astype(np.float64), ends * (characters / ends[-1]), num_unknown)

    @property
    def block_size(self) -> int:
        """Tokens of a block."""
        return int(size_of_blocks(len(self.nats), longest=BLOCK))

    @property
    def blocks(self) -> Int[np.ndarray, " tokens"]:
        """The number of the block of tokens in which each token stands."""
        return np.arange(len(self.nats)) // self.block_size

    def items(self) -> dict[str, Sums]:
        """What the scores of a language model are made of."""
        starts = np.arange(0, len(self.nats), self.block_size)
        nats, sizes = np.add.reduceat(self.nats, starts), np.diff(np.append(starts, len(self.nats)))
        characters = np.add.reduceat(np.diff(self.ends, prepend=0.0), starts)
        return {
            "nats_per_token": ratios(nats, sizes),
            "bits_per_token": ratios(nats, sizes, _bits),
            "bits_per_character": ratios(nats, characters, _bits),
            "perplexity": ratios(nats, sizes, exponential),
        }

    def by_characters(self, *, upto: float) -> Sums:
        """Bits per character on blocks of equal text; what stands after `upto` characters is left out."""
        size = size_of_blocks(upto, longest=CHARACTERS)
        num_blocks = max(1, math.ceil(upto / size))
        inside = self.ends <= upto * (1 + 1e-9)
        block = np.minimum(np.ceil(self.ends[inside] / size).astype(np.int64) - 1, num_blocks - 1)
        nats = np.bincount(block, weights=self.nats[inside], minlength=num_blocks)
        characters = np.diff(np.minimum(np.arange(num_blocks + 1) * float(size), upto))
        return ratios(nats, characters, _bits)


def size_of_blocks(length: float, *, longest: int) -> float:
    """
    >>> size_of_blocks(1_000_000, longest=512), size_of_blocks(2000, longest=512), size_of_blocks(9, longest=512)
    (512, 100, 32)
    """
    return max(longest // LEAST, min(longest, length // ENOUGH))


def _bits(sums: Float[np.ndarray, "resamples parts"]) -> Float[np.ndarray, " resamples"]:
    return ratio(sums) / math.log(2)

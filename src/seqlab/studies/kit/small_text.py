"""A small character-level text for studies that need natural language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.datasets.pydoc import read_topics

NUM_CHARACTERS = 120_000
VALID_SHARE = 0.1


@dataclass(frozen=True)
class SmallText:
    """The ids of two parts of one text; the second is held out."""

    train: Int[Tensor, "characters"]
    valid: Int[Tensor, "others"]
    num_symbols: int

    def draw(
        self, batch_size: int, time: int, generator: torch.Generator
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Windows from random positions, and the next character of each of their characters."""
        starts = torch.randint(len(self.train) - time - 1, (batch_size,), generator=generator)
        windows = torch.stack(
            [self.train[start : start + time + 1] for start in starts.tolist()]
        )  # (batch, time + 1)
        return windows[:, :-1], windows[:, 1:]

    def valid_rows(
        self, time: int, num_rows: int
    ) -> tuple[Int[Tensor, "rows time"], Int[Tensor, "rows time"]]:
        """The beginning of the second part, split into rows."""
        ids = self.valid[: num_rows * time + 1]
        return ids[:-1].view(-1, time), ids[1:].view(-1, time)

    @property
    def unigram_nats(self) -> float:
        """Nats per character of a unigram model."""
        return self.unigram_nats_of(self.valid)

    def unigram_nats_of(self, characters: Int[Tensor, "..."]) -> float:
        """Nats per character of a unigram model of the training part."""
        counts = torch.bincount(self.train, minlength=self.num_symbols) + 1.0
        return -(counts / counts.sum()).log()[characters].mean().item()


@cache
def small_text() -> SmallText:
    """The first topics of Python's built-in help."""
    text = read_topics()[:NUM_CHARACTERS]
    symbols = {symbol: index for index, symbol in enumerate(sorted(set(text)))}
    ids = torch.tensor([symbols[symbol] for symbol in text])
    split = int(len(ids) * (1 - VALID_SHARE))
    return SmallText(ids[:split], ids[split:], len(symbols))

"""Word embeddings combined with an encoding of the word's characters."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seqlab.blocks.character_encoder import PAD_CHARACTER, CharacterEncoder
from seqlab.blocks.embedding import TokenEmbedding

MULTIPLIER = 6364136223846793005
"""Odd and large, so that the products of different rows rarely agree (Knuth's MMIX generator)."""


class WordCharacterEmbedding(nn.Module):
    """vector = [row of the word ; encoder(characters of the word)].

    A step is (word id, its characters …). During training, a word is replaced by the unknown word with
    probability drop_rates[word] but keeps its characters, so that the network learns to handle
    out-of-vocabulary words. Every distinct word of a batch is encoded once.

    drop_rates: for every id of the vocabulary; saved with the weights.
    """

    drop_rates: Tensor

    def __init__(
        self,
        words: TokenEmbedding,
        characters: CharacterEncoder,
        *,
        unk_id: int,
        drop_rates: Float[Tensor, " vocab"],
    ) -> None:
        super().__init__()
        self.words = words
        self.characters = characters
        self.unk_id = unk_id
        self.register_buffer("drop_rates", drop_rates)

    def forward(self, inputs: Int[Tensor, "batch time features"]) -> Float[Tensor, "batch time hidden"]:
        word_ids, characters = (
            inputs[..., 0],
            inputs[..., 1:].flatten(0, 1),
        )  # (batch, time), (batch * time, characters)
        if self.training:
            is_dropped = torch.rand(word_ids.shape, device=word_ids.device) < self.drop_rates[word_ids]
            word_ids = torch.where(is_dropped, self.unk_id, word_ids)
        distinct, inverse = unique_rows(characters)
        longest = max(1, int((distinct != PAD_CHARACTER).sum(dim=1).max()))
        encoded = self.characters(distinct[:, :longest])[inverse]  # (batch * time, hidden)
        return torch.cat([self.words(word_ids), encoded.unflatten(0, word_ids.shape)], dim=-1)


def word_drop_rates(counts: Int[Tensor, " vocab"], *, strength: float) -> Float[Tensor, " vocab"]:
    """rate(word) = strength / (strength + count(word)), and 0 for words that never occur in training.

    Paper: Kiperwasser & Goldberg 2016, "Simple and Accurate Dependency Parsing Using Bidirectional LSTM
    Feature Representations", arXiv:1603.04351, section 4.

    >>> word_drop_rates(torch.tensor([0, 1, 3]), strength=1.0).tolist()
    [0.0, 0.5, 0.25]
    """
    return torch.where(counts > 0, strength / (strength + counts.clamp(min=1)), torch.zeros(()))


def unique_rows(
    rows: Int[Tensor, "rows width"],
) -> tuple[Int[Tensor, "distinct width"], Int[Tensor, " rows"]]:
    """The distinct rows, and for each row its index among them.

    torch.unique(dim=0) sorts whole rows. Sorting one hash per row and checking for collisions is six times
    faster.

    >>> rows, inverse = unique_rows(torch.tensor([[5, 6], [7, 0], [5, 6]]))
    >>> rows[inverse].tolist()
    [[5, 6], [7, 0], [5, 6]]
    """
    powers = torch.full((rows.shape[1],), MULTIPLIER, device=rows.device).cumprod(
        0
    )  # integer overflow wraps around
    keys, inverse = torch.unique((rows * powers).sum(dim=1), return_inverse=True)
    chosen = inverse.new_empty(len(keys)).scatter_(
        0, inverse, torch.arange(len(rows), device=rows.device)
    )  # any of the equal rows
    distinct = rows[chosen]
    if not torch.equal(distinct[inverse], rows):
        return torch.unique(rows, dim=0, return_inverse=True)
    return distinct, inverse

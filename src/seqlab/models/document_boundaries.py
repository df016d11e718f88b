"""Split rows of tokens at document boundaries."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.models.base import ModelState


@dataclass(frozen=True)
class DocumentPieces:
    """Every piece of a document as a separate sequence, in the order of the rows.

    >>> pieces = DocumentPieces.split(torch.tensor([[5, 6, 2, 7], [2, 8, 9, 2]]), torch.ones(2, 4, dtype=torch.bool), start_id=2)
    >>> pieces.tokens.tolist(), pieces.row.tolist(), pieces.is_new.tolist()
    ([[5, 6, 0], [2, 7, 0], [2, 8, 9], [2, 0, 0]], [0, 0, 1, 1], [False, True, True, True])
    """

    tokens: Int[Tensor, "pieces longest"]
    is_token: Bool[Tensor, "pieces longest"]
    row: Int[Tensor, "pieces"]
    """The row that a piece was cut from."""
    is_new: Bool[Tensor, "pieces"]
    """Whether the piece begins a document; otherwise it continues from the row's state."""
    flat_index: Int[Tensor, "real"]
    """For every real token of the rows, row by row, its index in the flattened pieces."""

    @classmethod
    def split(
        cls, tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], *, start_id: int
    ) -> DocumentPieces:
        begins = (tokens == start_id) & is_token
        is_new = begins[:, 0].clone()
        begins[:, 0] = True  # every row begins a piece
        number = begins.flatten().cumsum(0)[is_token.flatten()] - 1  # of the piece, for every real token
        row = begins.nonzero()[:, 0]
        lengths = torch.bincount(number, minlength=len(row))
        longest = int(lengths.max())
        firsts = lengths.cumsum(0) - lengths
        flat_index = number * longest + torch.arange(len(number), device=tokens.device) - firsts[number]
        pieces = (
            tokens.new_zeros(len(lengths) * longest)
            .index_copy_(0, flat_index, tokens[is_token])
            .view(-1, longest)
        )
        is_first = torch.ones_like(row, dtype=torch.bool)
        is_first[1:] = row[1:] != row[:-1]
        is_longer = torch.arange(longest, device=tokens.device) < lengths.unsqueeze(1)
        return cls(pieces, is_longer, row, ~is_first | is_new[row], flat_index)

    def initial_states(self, state: ModelState, initial: ModelState) -> ModelState:
        """The state before every piece."""
        return tuple(
            torch.where(self.is_new.unsqueeze(1), new, part[self.row])
            for new, part in zip(initial, state, strict=True)
        )

    def final_states(self, state: ModelState) -> ModelState:
        """The state after every row: that of its last piece."""
        is_last = torch.ones_like(self.is_new)
        is_last[:-1] = self.row[1:] != self.row[:-1]
        return tuple(part[is_last] for part in state)

    def merge_features(
        self, features: Float[Tensor, "pieces longest hidden"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time hidden"]:
        """Put the features of every token back into its row; zeros in the padding."""
        real = features.flatten(0, 1).index_select(0, self.flat_index)  # (real, hidden)
        if len(real) == is_token.numel():
            return real.view(*is_token.shape, -1)
        where = is_token.flatten().nonzero().squeeze(1)
        return (
            real.new_zeros(is_token.numel(), real.shape[1])
            .index_copy(0, where, real)
            .view(*is_token.shape, -1)
        )

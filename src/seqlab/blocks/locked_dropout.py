"""Variational (locked) dropout: the same mask at every step of a sequence."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout


class LockedDropout(nn.Module):
    """One mask per sequence, used at all of its steps.

    Paper: Gal & Ghahramani 2016, "A Theoretically Grounded Application of Dropout in Recurrent Neural
    Networks", arXiv:1512.05287.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.masks = Dropout(p)

    def forward(
        self, rows: Float[Tensor, "*rows hidden"], sequence_of_row: Int[Tensor, "*rows"], num_sequences: int
    ) -> Float[Tensor, "*rows hidden"]:
        if not self.training or self.masks.p == 0:
            return rows
        mask = self.masks(rows.new_ones(num_sequences, rows.shape[-1]))
        return rows * mask[sequence_of_row.to(rows.device)]

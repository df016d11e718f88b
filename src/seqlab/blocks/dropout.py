"""Dropout: sets random values to zero during training."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 1 << 16
SMALLEST = torch.iinfo(torch.int64).min


class Dropout(nn.Module):
    """output = x ⊙ mask / (1 - p), each element of the mask being 0 with probability p.

    Paper: Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR
    15.

    On a CPU most of the time goes into drawing the mask, since torch draws one 64-bit number per element.
    Here four elements share one number: each compares its own 16 bits with p, which rounds p to a multiple of
    1/65536. The scale uses the rounded p, so that the mean stays exact.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, values: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        if not self.training or self.p == 0:
            return values
        if values.device.type != "cpu":
            return F.dropout(values, self.p)
        dropped = round(self.p * LEVELS)
        draws = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(
            SMALLEST, None
        )  # all 64 bits
        bits = draws.view(torch.int16)[: values.numel()].view(values.shape)
        mask = (bits >= dropped - LEVELS // 2).to(values.dtype).mul_(LEVELS / (LEVELS - dropped))
        return values * mask

    def extra_repr(self) -> str:
        return f"p={self.p}"

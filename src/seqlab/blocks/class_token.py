"""A learned class token ([CLS]) before all other steps, in which a network summarizes the whole sequence."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ClassToken(nn.Module):
    """(token, step 1, step 2, …): the same first step for every sequence.

    Paper: Devlin et al. 2019, "BERT", arXiv:1810.04805, section 3; for images Dosovitskiy et al. 2021,
    arXiv:2010.11929, equation 1.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, steps: Float[Tensor, "batch time hidden"]) -> Float[Tensor, "batch longer hidden"]:
        token = self.token.expand(len(steps), 1, -1)  # (batch, 1, hidden)
        return torch.cat([token, steps], dim=1)

"""Where a step stands: added to the steps before attention, which does not see order by itself."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError


class SinusoidalPositions(nn.Module):
    """P[i, 2j] = sin(i / 10000^(2j/d)),  P[i, 2j+1] = cos(i / 10000^(2j/d)).

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.5. The table grows when a longer sequence comes.
    """

    table: Tensor

    def __init__(self, hidden_size: int, *, max_length: int = 1000) -> None:
        super().__init__()
        self._hidden_size = hidden_size
        self.register_buffer("table", self._compute(max_length), persistent=False)

    def forward(self, steps: Float[Tensor, "batch time hidden"], *, start: int = 0) -> Float[Tensor, "batch time hidden"]:
        end = start + steps.shape[1]
        if end > len(self.table):
            self.table = self._compute(max(end, 2 * len(self.table))).to(steps.device)
        return steps + self.table[start:end].to(steps.dtype)

    def _compute(self, length: int) -> Float[Tensor, "time hidden"]:
        pairs = torch.arange(0, self._hidden_size, 2, dtype=torch.float64)
        angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(-math.log(10000.0) * pairs / self._hidden_size)
        table = torch.zeros(length, self._hidden_size)
        table[:, 0::2] = torch.sin(angles)
        table[:, 1::2] = torch.cos(angles)[:, : self._hidden_size // 2]
        return table


class LearnedPositions(nn.Module):
    """One learned row per place; places past the table are refused."""

    def __init__(self, hidden_size: int, *, max_length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_length, hidden_size) * 0.02)

    def forward(self, steps: Float[Tensor, "batch time hidden"], *, start: int = 0) -> Float[Tensor, "batch time hidden"]:
        end = start + steps.shape[1]
        if end > len(self.table):
            raise UsageError(
                f"a sequence of {end} steps, but positions were learned for {len(self.table)}.",
                cure="Cut the input, or train with a larger model.max_positions or model.positions=sinusoidal.",
            )
        return steps + self.table[start:end]


class NoPositions(nn.Module):
    """Leaves the steps as they are: attention then treats them as a set."""

    def forward(self, steps: Float[Tensor, "batch time hidden"], *, start: int = 0) -> Float[Tensor, "batch time hidden"]:
        return steps

"""Where a step stands: added to the steps before attention, which does not see order by itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seqlab.core.errors import UsageError


class Positions(nn.Module, ABC):
    """One row per place, added to the step that stands there."""

    def forward(self, steps: Float[Tensor, "batch time hidden"], *, start: Int[Tensor, " batch"] | None = None) -> Float[Tensor, "batch time hidden"]:
        """`start` is the place at which each sequence goes on; without it they begin."""
        time = steps.shape[1]
        if start is None:
            return steps + self.rows(time, steps)[:time]
        places = start[:, None] + torch.arange(time, device=steps.device)  # (batch, time)
        return steps + self.rows(int(places.max()) + 1, steps)[places]

    @abstractmethod
    def rows(self, num_places: int, steps: Tensor) -> Float[Tensor, "places hidden"]:
        """The rows of at least so many places, of the type and on the device of the steps."""


class SinusoidalPositions(Positions):
    """P[i, 2j] = sin(i / 10000^(2j/d)),  P[i, 2j+1] = cos(i / 10000^(2j/d)).

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.5. The table grows when a longer sequence comes.
    """

    def __init__(self, hidden_size: int, *, max_length: int = 1000) -> None:
        super().__init__()
        self._hidden_size = hidden_size
        self._max_length = max_length
        self._table = torch.empty(0, hidden_size)  # no buffer: a float32 table that is turned into float64 would not be exact

    def rows(self, num_places: int, steps: Tensor) -> Float[Tensor, "places hidden"]:
        """Computed when it is first needed, in the type that is needed."""
        if num_places > len(self._table) or self._table.dtype != steps.dtype or self._table.device != steps.device:
            length = max(num_places, self._max_length, 2 * len(self._table) if num_places > len(self._table) else len(self._table))
            self._table = self._compute(length).to(steps)
        return self._table

    def _compute(self, length: int) -> Float[Tensor, "places hidden"]:
        pairs = torch.arange(0, self._hidden_size, 2, dtype=torch.float64)
        angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(-math.log(10000.0) * pairs / self._hidden_size)
        table = torch.zeros(length, self._hidden_size, dtype=torch.float64)
        table[:, 0::2] = torch.sin(angles)
        table[:, 1::2] = torch.cos(angles)[:, : self._hidden_size // 2]
        return table


class LearnedPositions(Positions):
    """One learned row per place; places past the table are refused."""

    def __init__(self, hidden_size: int, *, max_length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_length, hidden_size) * 0.02)

    def rows(self, num_places: int, steps: Tensor) -> Float[Tensor, "places hidden"]:
        if num_places > len(self.table):
            raise UsageError(
                f"a sequence of {num_places} steps, but positions were learned for {len(self.table)}.",
                cure="Cut the input, or train with a larger model.max_positions or model.positions=sinusoidal.",
            )
        return self.table


class NoPositions(nn.Module):
    """Leaves the steps as they are: attention then treats them as a set."""

    def forward(self, steps: Float[Tensor, "batch time hidden"], *, start: Int[Tensor, " batch"] | None = None) -> Float[Tensor, "batch time hidden"]:
        return steps

"""Merge the two directions of a bidirectional layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

MergeName = Literal["concat", "mean", "sum", "learned"]


class Merge(nn.Module, ABC):
    """Combines two directions into one sequence of features."""

    output_size: int

    @abstractmethod
    def forward(
        self, forward_rows: Float[Tensor, "rows hidden"], backward_rows: Float[Tensor, "rows hidden"]
    ) -> Float[Tensor, "rows output"]: ...


class ConcatMerge(Merge):
    """Concatenation: keeps all features and doubles the input size of the next layer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = 2 * size

    def forward(
        self, forward_rows: Float[Tensor, "rows hidden"], backward_rows: Float[Tensor, "rows hidden"]
    ) -> Float[Tensor, "rows output"]:
        return torch.cat([forward_rows, backward_rows], dim=-1)


class MeanMerge(Merge):
    """(forward + backward) / 2."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def forward(
        self, forward_rows: Float[Tensor, "rows hidden"], backward_rows: Float[Tensor, "rows hidden"]
    ) -> Float[Tensor, "rows output"]:
        return (forward_rows + backward_rows) / 2


class SumMerge(Merge):
    """forward + backward."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def forward(
        self, forward_rows: Float[Tensor, "rows hidden"], backward_rows: Float[Tensor, "rows hidden"]
    ) -> Float[Tensor, "rows output"]:
        return forward_rows + backward_rows


class LearnedMerge(Merge):
    """W [forward; backward] + b: learns what to take from each direction."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size
        self.project = nn.Linear(2 * size, size)

    def forward(
        self, forward_rows: Float[Tensor, "rows hidden"], backward_rows: Float[Tensor, "rows hidden"]
    ) -> Float[Tensor, "rows output"]:
        return self.project(torch.cat([forward_rows, backward_rows], dim=-1))


MERGES: dict[str, type[ConcatMerge] | type[MeanMerge] | type[SumMerge] | type[LearnedMerge]] = {
    "concat": ConcatMerge,
    "mean": MeanMerge,
    "sum": SumMerge,
    "learned": LearnedMerge,
}

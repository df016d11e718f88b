"""The state before the first step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.base import State

InitialStateName = Literal["zeros", "random", "xavier", "learned"]


class InitialState(nn.Module, ABC):
    """One row per sequence for each part of the state."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State: ...


class ZeroState(InitialState):
    """Nothing yet."""

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return tuple(like.new_zeros(num_sequences, size) for size in self.sizes)


class NormalState(InitialState):
    """A new draw from N(0, 1) for every sequence while training; its mean, zero, otherwise, so that results
    do not depend on luck.
    """

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return tuple(
            like.new_zeros(num_sequences, size).normal_(0, float(self.training)) for size in self.sizes
        )


class XavierState(InitialState):
    """A new draw with standard deviation √(2 / (sequences + size)) while training; zero otherwise."""

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        drawn = [like.new_zeros(num_sequences, size) for size in self.sizes]
        return tuple(nn.init.xavier_normal_(part) if self.training else part for part in drawn)


class LearnedState(InitialState):
    """One trained state for all sequences; zero at the start."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__(sizes)
        self.parts = nn.ParameterList([nn.Parameter(torch.zeros(size)) for size in sizes])

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return tuple(part.expand(num_sequences, -1) for part in self.parts)


INITIAL_STATES: dict[str, type[InitialState]] = {
    "zeros": ZeroState,
    "random": NormalState,
    "xavier": XavierState,
    "learned": LearnedState,
}

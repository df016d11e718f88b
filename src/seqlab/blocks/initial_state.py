"""Initial states of recurrent layers, before the first step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.base import State

InitialStateName = Literal["zeros", "random", "xavier", "learned"]


class InitialState(nn.Module, ABC):
    """The initial state: one row per sequence for each part of the state."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State: ...


class ZeroState(InitialState):
    """Zeros."""

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return tuple(like.new_zeros(num_sequences, size) for size in self.sizes)


class NormalState(InitialState):
    """A sample from N(0, 1) for every sequence during training; zeros, its mean, in evaluation, so that
    results are deterministic.
    """

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return tuple(
            like.new_zeros(num_sequences, size).normal_(0, float(self.training)) for size in self.sizes
        )


class XavierState(InitialState):
    """A sample with standard deviation √(2 / (sequences + size)) during training; zeros in evaluation."""

    def forward(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        drawn = [like.new_zeros(num_sequences, size) for size in self.sizes]
        return tuple(nn.init.xavier_normal_(part) if self.training else part for part in drawn)


class LearnedState(InitialState):
    """A learned initial state shared by all sequences, initialized to zero."""

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

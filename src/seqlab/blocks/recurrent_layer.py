"""One recurrent layer, in one direction or in both, and the states before its first step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.merge import Merge
from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell, State
from seqlab.cells.step_layout import Packing

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


class RecurrentLayer(nn.Module, ABC):
    """Maps packed rows to packed rows, with the state of each sequence before and after (in the packing's
    order).
    """

    input_size: int
    output_size: int
    state_sizes: tuple[int, ...]

    @abstractmethod
    def forward(
        self, rows: Float[Tensor, "rows input"], packing: Packing, state: State | None
    ) -> tuple[Float[Tensor, "rows output"], State]: ...

    @abstractmethod
    def initial_state(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        """The default initial state, one row for each sequence."""


class UnidirectionalLayer(RecurrentLayer):
    """A cell scanned from the first step to the last, or from the last to the first."""

    def __init__(
        self, cell: Cell, initial: InitialState, *, reverse: bool = False, fast: bool = True
    ) -> None:
        super().__init__()
        self.cell = cell
        self.initial = initial
        self.reverse = reverse
        self.fast = fast
        self.input_size = cell.input_size
        self.output_size = cell.output_size
        self.state_sizes = cell.state_sizes

    def forward(
        self, rows: Float[Tensor, "rows input"], packing: Packing, state: State | None
    ) -> tuple[Float[Tensor, "rows output"], State]:
        start = self.initial_state(packing.num_sequences, rows) if state is None else state
        return scan(
            self.cell, rows, start, packing.layout(reverse=self.reverse, device=rows.device), fast=self.fast
        )

    def initial_state(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return self.initial(num_sequences, like)


class BidirectionalLayer(RecurrentLayer):
    """Two independent scans over the same rows, merged step by step.

    Paper: Schuster & Paliwal 1997, "Bidirectional Recurrent Neural Networks".
    """

    def __init__(self, onward: UnidirectionalLayer, backward: UnidirectionalLayer, merge: Merge) -> None:
        super().__init__()
        self.onward = onward
        self.backward = backward
        self.merge = merge
        self.input_size = onward.input_size
        self.output_size = merge.output_size
        self.state_sizes = (*onward.state_sizes, *backward.state_sizes)

    def forward(
        self, rows: Float[Tensor, "rows input"], packing: Packing, state: State | None
    ) -> tuple[Float[Tensor, "rows output"], State]:
        middle = len(self.onward.state_sizes)
        first, first_state = self.onward(rows, packing, None if state is None else state[:middle])
        second, second_state = self.backward(rows, packing, None if state is None else state[middle:])
        return self.merge(first, second), (*first_state, *second_state)

    def initial_state(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        return (
            *self.onward.initial_state(num_sequences, like),
            *self.backward.initial_state(num_sequences, like),
        )

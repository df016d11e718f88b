"""The base classes of recurrent cells: parameters and one readable step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.cells.option_types import Bias
from seqlab.cells.registry import cells as cells

State = tuple[Tensor, ...]
"""(hidden,) or (hidden, cell_state), each (batch, hidden).

The hidden state is what a cell shows to the layer above.
"""


def uniform_bound(hidden_size: int) -> float:
    """1/√hidden, the bound within which torch's recurrent layers start; a width of 0 has no numbers."""
    return hidden_size**-0.5 if hidden_size else 0.0


class Cell(nn.Module, ABC):
    """One time step of a recurrent network.

        projected = W x + b             for all steps at once: it does not depend on the past
        state'    = step(projected, state)

    `input` (gates * hidden, input) is W, `recurrent` (gates * hidden, hidden) multiplies the hidden state,
    `bias` is b or None. The rows of each are grouped by gate, in the order given in the cell's docstring. A
    cell in which only some gates see the hidden state sets `num_recurrent_gates`; if none does, `recurrent`
    is None. `step` is the reference; `kernel_choice.fast_scan` computes the same numbers faster.
    """

    num_gates: ClassVar[int]
    num_state_tensors: ClassVar[int] = 1
    """Tensors of the state: 1 for a hidden state alone, 2 with a cell state."""

    input: nn.Parameter
    recurrent: nn.Parameter
    bias: nn.Parameter | None

    def __init__(self, input_size: int, hidden_size: int, *, bias: Bias = True) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = self.num_gates * hidden_size
        self.input = nn.Parameter(torch.empty(rows, input_size))
        shape = (self.num_recurrent_gates * hidden_size, self.output_size)
        self.register_parameter(
            "recurrent", nn.Parameter(torch.empty(shape)) if self.num_recurrent_gates else None
        )
        self.register_parameter("bias", nn.Parameter(torch.empty(rows)) if bias else None)
        self.reset_parameters()

    @property
    def num_recurrent_gates(self) -> int:
        """Number of gates that have a recurrent matrix of their own, which are the blocks of `recurrent`."""
        return self.num_gates

    def reset_parameters(self) -> None:
        """Initialize as torch's recurrent layers do: uniform in ±1/√hidden."""
        bound = uniform_bound(self.hidden_size)
        for parameter in self.parameters(recurse=False):
            nn.init.uniform_(parameter, -bound, bound)

    def project(self, steps: Float[Tensor, "*steps input"]) -> Float[Tensor, "*steps gates"]:
        return F.linear(steps, self.input, self.bias)

    @abstractmethod
    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        """One step for every sequence of the batch."""

    def forward(
        self, inputs: Float[Tensor, "batch input"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        """One step from the raw input, for feeding a sentence word by word while carrying the state."""
        return self.step(self.project(inputs), self.zero_state(inputs) if state is None else state)

    def materialize_weights(self) -> Cell:
        """The cell to scan with: this cell, or a copy with its computed matrices if they depend on other
        parameters.
        """
        return self

    def zero_state(self, like: Float[Tensor, "batch *rest"]) -> State:
        return tuple(like.new_zeros(like.shape[0], size) for size in self.state_sizes)

    @property
    def output_size(self) -> int:
        """Width of the hidden state that a cell outputs; its cell state may be wider."""
        return self.state_sizes[0]

    @property
    def state_sizes(self) -> tuple[int, ...]:
        return (self.hidden_size,) * self.num_state_tensors

    def with_weights(self, weights: Mapping[str, Tensor | None]) -> Self:
        """The same cell with other tensors in place of some parameters. Nothing is copied, and gradients flow
        to these tensors.
        """
        other = object.__new__(type(self))  # like copy.copy, but much faster: a layer does this in every call
        other.__dict__.update(self.__dict__, _parameters={**self._parameters, **weights})
        return other

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is not None else ", bias=False")


class GatedCell(Cell):
    """A cell whose step mixes what it keeps with what it adds, and whose gates can be inspected.

    carried' = keep ⊙ carried + write ⊙ candidate        (carried is the cell state, or the hidden state where
    there is none)
    """

    @abstractmethod
    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        """Every gate by name, after its activation, and the candidate."""

    @abstractmethod
    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """(keep, write) of one step's gates."""

"""Small networks for studies: one recurrent, two without memory."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.recurrent import CellFactory, build_stack
from seqlab.cells.base import Cell, State, cells
from seqlab.cells.initialization import Initialization, initialize

KEEP_GATE_INDEX = {"lstm": 1, "gru": 1}
"""Which of a cell's gates keeps the old state: the forget gate, the update gate."""


class SmallRecurrentModel(nn.Module):
    """Recurrent layers over vectors with a linear output at every step: y_t = V h_t + c."""

    def __init__(
        self,
        input_size: int,
        make_cell: CellFactory,
        hidden_size: int,
        output_size: int,
        *,
        layers: int = 1,
        fast: bool = True,
    ) -> None:
        super().__init__()
        self.stack = build_stack(input_size, make_cell, [hidden_size] * layers, fast=fast)
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, steps: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch time output"]:
        return self.head(self.scan(steps)[0])

    def scan(
        self, steps: Float[Tensor, "batch time input"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], State]:
        return self.stack(steps, torch.ones(steps.shape[:2], dtype=torch.bool), state)


class PerStepModel(nn.Module):
    """No memory: y_t = f(x_t), the same small network at every step."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(input_size, hidden_size), nn.Tanh(), nn.Linear(hidden_size, output_size)
        )

    def forward(self, steps: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch time output"]:
        return self.layers(steps)


class FixedWindowModel(nn.Module):
    """No memory: a binary classifier of exactly `num_steps` steps, concatenated into one vector.

    A longer sequence is truncated to its last steps.
    """

    def __init__(self, input_size: int, hidden_size: int, *, num_steps: int) -> None:
        super().__init__()
        self.num_steps = num_steps
        self.layers = nn.Sequential(
            nn.Linear(num_steps * input_size, hidden_size), nn.Tanh(), nn.Linear(hidden_size, 1)
        )

    def forward(self, steps: Float[Tensor, "batch time input"]) -> Float[Tensor, "batch"]:
        """The logit of the second class."""
        last = steps[:, -self.num_steps :]
        missing = self.num_steps - last.shape[1]
        padded = torch.cat(
            [last.new_zeros(len(last), missing, last.shape[2]), last], dim=1
        )  # (batch, num_steps, input)
        return self.layers(padded.flatten(1)).squeeze(-1)


def cell_maker(
    name: str, *, initialization: Initialization = "torch", keep_bias: float | None = None, **options: Any
) -> CellFactory:
    """A factory for cells of one kind with a given initialization.

    keep_bias: the initial bias of the gate that keeps the old state; σ(3) keeps 95% of it per step.
    """

    def make(input_size: int, hidden_size: int) -> Cell:
        cell = cells.get(name)(input_size, hidden_size, **options)
        if initialization != "torch":
            initialize(cell, initialization)
        if keep_bias is not None:
            assert cell.bias is not None
            gate = KEEP_GATE_INDEX[name] * hidden_size
            with torch.no_grad():
                cell.bias[gate : gate + hidden_size] = keep_bias
        return cell

    return make

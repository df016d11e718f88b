"""A recurrent cell of your own: a leaky integrator with a learned leak for each feature."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqlab import register
from seqlab.cells.base import Cell, State


@register.cell("leaky")
class LeakyCell(Cell):
    """A tanh RNN whose state follows its candidate slowly.

    candidate = tanh(W x + b + U hidden)
    hidden'   = leak ⊙ hidden + (1 - leak) ⊙ candidate        leak = σ(l), learned, one for each feature

    leak: How much of the state stays at the beginning of training, between 0 and 1.
    """

    num_gates = 1

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True, leak: float = 0.9) -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.leak_logit = nn.Parameter(torch.full((hidden_size,), leak).logit())

    def step(self, projected: Tensor, state: State) -> tuple[Tensor, State]:
        (hidden,) = state
        candidate = torch.tanh(projected + hidden @ self.recurrent.T)
        leak = torch.sigmoid(self.leak_logit)
        hidden = leak * hidden + (1 - leak) * candidate
        return hidden, (hidden,)

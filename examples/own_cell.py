"""Register a recurrent cell of your own and train with it, next to a built-in one.

A cell is its equations: `step` gets the projected input W x + b and the state, and returns the output and the new
state. On the command line: seqlab train recall --plugin examples/own_cell.py --model ema.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import seqlab
from seqlab import register
from seqlab.cells.base import Cell, State


@register.cell("ema")
class EMACell(Cell):
    """An exponential moving average with a learned rate for each feature, then tanh.

    average' = decay ⊙ average + (1 - decay) ⊙ (W x + b),   output = tanh(average'),   decay = σ(d)
    """

    num_gates = 1

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True) -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.decay_logit = nn.Parameter(torch.linspace(-2.0, 4.0, hidden_size))

    def step(self, projected: Tensor, state: State) -> tuple[Tensor, State]:
        (average,) = state
        decay = torch.sigmoid(self.decay_logit)
        average = decay * average + (1 - decay) * projected
        return torch.tanh(average), (average,)


def main(*, data: str = "languages", steps: int = 400, out: str = "runs/cells") -> dict[str, float]:
    """Accuracy on the test split by cell."""
    accuracy = {}
    for cell in ("ema", "gru"):
        run = seqlab.train(data, model=cell, steps=steps, seed=1, out=f"{out}-{cell}", threads=1)
        accuracy[cell] = run.results["accuracy"].value
        print(f"{cell:4} {run.num_parameters:8,} parameters  test accuracy {accuracy[cell]:.3f}")
    return accuracy


if __name__ == "__main__":
    main()

"""An LSTM that writes exactly where it forgets: one gate fewer."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.fast.apply import applied
from seqlab.cells.fast.coupled_lstm import CoupledLSTMWalk
from seqlab.cells.forget_bias import open_forget_gate
from seqlab.cells.native.library import native
from seqlab.cells.native.scan import MemoryWalk
from seqlab.cells.step_layout import Path


@cells.register("coupled_lstm")
class CoupledLSTM(GatedCell):
    """One step of an LSTM whose writing gate is 1 - forget. Gates stand in the order forget, candidate, expose.

        forget    = σ(W_f x + U_f h + b_f)
        candidate = tanh(W_c x + U_c h + b_c)
        expose    = σ(W_o x + U_o h + b_o)
        memory'   = forget ⊙ memory + (1 - forget) ⊙ candidate
        hidden'   = expose ⊙ tanh(memory')

    The memory is a running average, so it never leaves the range of what was written: the cell cannot count. It has three quarters of
    an LSTM's parameters, and is an LSTM whose writing gate has the forget gate's weights with the other sign: 1 - σ(a) = σ(-a).
    Paper: Greff et al. 2017, "LSTM: A Search Space Odyssey" (variant CIFG), arXiv:1503.04069.
    """

    num_gates = 3
    num_parts = 2

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True, forget_bias: float = 1.0) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        open_forget_gate(self.bias, gate=0, size=self.hidden_size, value=self.forget_bias)

    def gates(self, projected: Float[Tensor, "batch gates"], state: State) -> dict[str, Float[Tensor, "batch hidden"]]:
        forget, candidate, expose = (projected + state[0] @ self.recurrent.T).chunk(3, dim=-1)
        return {"forget": torch.sigmoid(forget), "candidate": torch.tanh(candidate), "expose": torch.sigmoid(expose)}

    def mixing(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], 1 - gates["forget"]

    def step(self, projected: Float[Tensor, "batch gates"], state: State) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        memory = gates["forget"] * state[1] + (1 - gates["forget"]) * gates["candidate"]
        hidden = gates["expose"] * torch.tanh(memory)
        return hidden, (hidden, memory)

    def fast_walk(self, rows: Float[Tensor, "rows input"], state: State, path: Path) -> tuple[Float[Tensor, "rows hidden"], State] | None:
        if native(rows) is not None:
            hidden, *last = applied(MemoryWalk, rows, self.input, self.recurrent, self.bias, *state, None, path, "coupled_lstm")
        else:
            hidden, *last = applied(CoupledLSTMWalk, rows, self.input, self.recurrent, self.bias, *state, path)
        return hidden, tuple(last)

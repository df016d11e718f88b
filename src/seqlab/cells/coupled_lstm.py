"""An LSTM with coupled input and forget gates: one gate fewer."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.option_types import Bias, ForgetBias
from seqlab.cells.options import set_forget_bias


@cells.register("coupled_lstm")
class CoupledLSTM(GatedCell):
    """One step of an LSTM whose input gate is 1 - forget. Gate order: forget, candidate, output.

        forget      = σ(W_f x + U_f h + b_f)
        candidate   = tanh(W_c x + U_c h + b_c)
        output      = σ(W_o x + U_o h + b_o)
        cell_state' = forget ⊙ cell_state + (1 - forget) ⊙ candidate
        hidden'     = output ⊙ tanh(cell_state')

    The cell state is a running average, so it stays within the range of the candidates: the cell cannot
    count. It has three quarters of an LSTM's parameters. It equals an LSTM whose input gate has the negated
    weights of the forget gate: 1 - σ(a) = σ(-a). Paper: Greff et al. 2017, "LSTM: A Search Space Odyssey"
    (variant CIFG), arXiv:1503.04069.
    """

    num_gates = 3
    num_state_tensors = 2

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: Bias = True, forget_bias: ForgetBias = 1.0
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        set_forget_bias(self.bias, gate=0, size=self.hidden_size, value=self.forget_bias)

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        forget_gate, candidate, output_gate = (projected + state[0] @ self.recurrent.T).chunk(3, dim=-1)
        return {
            "forget": torch.sigmoid(forget_gate),
            "candidate": torch.tanh(candidate),
            "output": torch.sigmoid(output_gate),
        }

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], 1 - gates["forget"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        cell_state = gates["forget"] * state[1] + (1 - gates["forget"]) * gates["candidate"]
        hidden = gates["output"] * torch.tanh(cell_state)
        return hidden, (hidden, cell_state)

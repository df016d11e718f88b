"""Long short-term memory: input, forget and output gates control a cell state."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.activations import get_activation
from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.option_types import Bias, CandidateActivation, ForgetBias
from seqlab.cells.options import check_choice, set_forget_bias


@cells.register("lstm")
class LSTM(GatedCell):
    """One step of an LSTM. Gate order, as in torch: input, forget, candidate, output.

        input       = σ(W_i x + U_i h + b_i)
        forget      = σ(W_f x + U_f h + b_f)
        candidate   = tanh(W_c x + U_c h + b_c)
        output      = σ(W_o x + U_o h + b_o)
        cell_state' = forget ⊙ cell_state + input ⊙ candidate
        hidden'     = output ⊙ tanh(cell_state')

    Goodfellow et al. 2016, section 10.10.1, write s for the cell state, g for the input gate, f for the
    forget gate and q for the output gate.

    Papers: Hochreiter & Schmidhuber 1997; forget gate: Gers et al. 2000; initial forget bias of 1: Jozefowicz
    et al. 2015.

    candidate: the activation of the candidate; some lectures print σ.
    """

    num_gates = 4
    num_state_tensors = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: Bias = True,
        forget_bias: ForgetBias = 1.0,
        candidate: CandidateActivation = "tanh",
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)
        self.candidate = check_choice("candidate", candidate, ("tanh", "sigmoid"))

    def reset_parameters(self) -> None:
        super().reset_parameters()
        set_forget_bias(self.bias, gate=1, size=self.hidden_size, value=self.forget_bias)

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        input_gate, forget_gate, candidate, output_gate = (projected + state[0] @ self.recurrent.T).chunk(
            4, dim=-1
        )
        return {
            "input": torch.sigmoid(input_gate),
            "forget": torch.sigmoid(forget_gate),
            "candidate": get_activation(self.candidate).function(candidate),
            "output": torch.sigmoid(output_gate),
        }

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["input"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        cell_state = gates["forget"] * state[1] + gates["input"] * gates["candidate"]
        hidden = gates["output"] * torch.tanh(cell_state)
        return hidden, (hidden, cell_state)

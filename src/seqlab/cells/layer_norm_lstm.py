"""An LSTM with layer normalization of its pre-activations and of its cell state."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.option_types import Bias, ForgetBias
from seqlab.cells.options import set_forget_bias

EPSILON = 1e-5
"""Added to the variance, as in torch's own layer norm."""


@cells.register("layer_norm_lstm")
class LayerNormLSTM(GatedCell):
    """One step of a layer-normalized LSTM. Gate order, as in torch: input, forget, candidate, output.

        norm(a)     = (a - mean(a)) / √(variance(a) + ε)             over all four gates together, for each sequence and step
        gates       = input_gain ⊙ norm(W x) + recurrent_gain ⊙ norm(U h) + b
        input, forget, output = σ(gates),  candidate = tanh(gates)
        cell_state' = forget ⊙ cell_state + input ⊙ candidate
        hidden'     = output ⊙ tanh(cell_gain ⊙ norm(cell_state') + cell_shift)

    The paper gives each norm a gain and a shift. The shifts of the two sums are redundant with b, so b
    replaces them; the cell state's norm has both gain and shift. Without biases there is no cell_shift
    either. Gains are initialized to 1, shifts to 0. Paper: Ba et al. 2016, "Layer Normalization",
    arXiv:1607.06450, equations 20-22.
    """

    num_gates = 4
    num_state_tensors = 2

    cell_shift: nn.Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: Bias = True, forget_bias: ForgetBias = 1.0
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)
        self.input_gain = nn.Parameter(torch.empty(4 * hidden_size))
        self.recurrent_gain = nn.Parameter(torch.empty(4 * hidden_size))
        self.cell_gain = nn.Parameter(torch.empty(hidden_size))
        self.register_parameter("cell_shift", nn.Parameter(torch.empty(hidden_size)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for name, parameter in self.named_parameters(recurse=False):
            if name.endswith("_gain"):
                nn.init.ones_(parameter)
            if name.endswith("_shift"):
                nn.init.zeros_(parameter)
        set_forget_bias(self.bias, gate=1, size=self.hidden_size, value=self.forget_bias)

    def project(self, steps: Float[Tensor, "*steps input"]) -> Float[Tensor, "*steps gates"]:
        return F.layer_norm(
            F.linear(steps, self.input), (4 * self.hidden_size,), self.input_gain, self.bias, EPSILON
        )

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        normed = F.layer_norm(
            state[0] @ self.recurrent.T, (4 * self.hidden_size,), self.recurrent_gain, None, EPSILON
        )
        input_gate, forget_gate, candidate, output_gate = (projected + normed).chunk(4, dim=-1)
        return {
            "input": torch.sigmoid(input_gate),
            "forget": torch.sigmoid(forget_gate),
            "candidate": torch.tanh(candidate),
            "output": torch.sigmoid(output_gate),
        }

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["input"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        cell_state = gates["forget"] * state[1] + gates["input"] * gates["candidate"]
        normed = F.layer_norm(cell_state, (self.hidden_size,), self.cell_gain, self.cell_shift, EPSILON)
        hidden = gates["output"] * torch.tanh(normed)
        return hidden, (hidden, cell_state)

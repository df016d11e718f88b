"""An LSTM that outputs a projection of its hidden state: a wide cell state with a narrow recurrence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.option_types import Bias, ForgetBias
from seqlab.cells.options import set_forget_bias
from seqlab.core.errors import UsageError


@cells.register("projected_lstm")
class ProjectedLSTM(GatedCell):
    """One step of an LSTM with a recurrent projection layer. Gate order, as in torch: input, forget,
    candidate, output.

        input, forget, output = σ(W x + U h + b),  candidate = tanh(W x + U h + b)
        cell_state' = forget ⊙ cell_state + input ⊙ candidate            (hidden)
        hidden'     = R (output ⊙ tanh(cell_state'))                     (proj)

    `recurrent` U is (4 * hidden, proj) and `projection` R is (proj, hidden); the equations are those of
    torch.nn.LSTM(proj_size=proj). Paper: Sak et al. 2014, "Long short-term memory based recurrent neural
    network architectures", arXiv:1402.1128.

    proj_size: width of the hidden state; smaller than that of the cell state.
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
        proj_size: Annotated[
            int, Field(ge=1, description="Size of the projected output; must be smaller than the cell state.")
        ] = 64,
    ) -> None:
        if not 1 <= proj_size < hidden_size:
            raise UsageError(
                f"proj_size {proj_size} does not fit hidden_size {hidden_size}.",
                cure=(
                    f"proj_size must be from 1 to {hidden_size - 1}; for no projection, use the lstm cell."
                ),
            )
        self.forget_bias = forget_bias
        self.proj_size = proj_size
        super().__init__(input_size, hidden_size, bias=bias)
        self.projection = nn.Parameter(torch.empty(proj_size, hidden_size))
        self.reset_parameters()

    @property
    def state_sizes(self) -> tuple[int, ...]:
        return (self.proj_size, self.hidden_size)

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
            "candidate": torch.tanh(candidate),
            "output": torch.sigmoid(output_gate),
        }

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["input"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch proj"], State]:
        gates = self.gates(projected, state)
        cell_state = gates["forget"] * state[1] + gates["input"] * gates["candidate"]
        hidden = (gates["output"] * torch.tanh(cell_state)) @ self.projection.T
        return hidden, (hidden, cell_state)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, proj_size={self.proj_size}"

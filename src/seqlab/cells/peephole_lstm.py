"""An LSTM whose gates also see the cell state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.option_types import Bias, ForgetBias
from seqlab.cells.options import check_choice, set_forget_bias
from seqlab.core.errors import UsageError, listed, nearest

Gate = Literal["input", "forget", "output"]
GATES: tuple[Gate, ...] = ("input", "forget", "output")
"""The gates that may see the cell state, in the order of their rows in `peephole`."""


@cells.register("peephole_lstm")
class PeepholeLSTM(GatedCell):
    """One step of a peephole LSTM. Gate order, as in torch: input, forget, candidate, output.

        input       = σ(W_i x + U_i h + P_i cell_state + b_i)
        forget      = σ(W_f x + U_f h + P_f cell_state + b_f)
        candidate   = tanh(W_c x + U_c h + b_c)
        output      = σ(W_o x + U_o h + P_o cell_state + b_o)
        cell_state' = forget ⊙ cell_state + input ⊙ candidate
        hidden'     = output ⊙ tanh(cell_state')

    `peephole` holds P for the gates with peepholes, in the order input, forget, output: one diagonal (hidden)
    per row, or full matrices (hidden, hidden) stacked vertically. As first published, P is diagonal and the
    output gate sees cell_state' (`output_gate_sees="new"`). Papers: Gers & Schmidhuber 2000, "Recurrent nets that
    time and count"; Gers et al. 2002 (JMLR 3, pages 115-143).

    gates: the gates that see the cell state.
    output_gate_sees: the cell state that the output gate sees, "previous" (cell_state) or "new" (cell_state').
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
        peepholes: Annotated[
            Literal["diagonal", "full"],
            Field(
                description=("Each gate sees its own unit of the cell state, or all units through a matrix.")
            ),
        ] = "diagonal",
        gates: Annotated[Sequence[Gate], Field(description="The gates that see the cell state.")] = GATES,
        output_gate_sees: Annotated[
            Literal["previous", "new"],
            Field(description="Which cell state the output gate sees: the one before or after the step."),
        ] = "previous",
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)
        self.peephole_gates = _in_order(gates)
        self.is_full = check_choice("peepholes", peepholes, ("diagonal", "full")) == "full"
        self.output_gate_sees_new = (
            check_choice("output_gate_sees", output_gate_sees, ("previous", "new")) == "new"
        )
        count = len(self.peephole_gates)
        self.peephole = nn.Parameter(torch.empty(count * hidden_size if self.is_full else count, hidden_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        set_forget_bias(self.bias, gate=1, size=self.hidden_size, value=self.forget_bias)

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        hidden, cell_state = state
        input_gate, forget_gate, candidate, output_gate = (projected + hidden @ self.recurrent.T).chunk(
            4, dim=-1
        )
        gates = {
            "input": torch.sigmoid(input_gate + self._peep("input", cell_state)),
            "forget": torch.sigmoid(forget_gate + self._peep("forget", cell_state)),
            "candidate": torch.tanh(candidate),
        }
        seen = (
            gates["forget"] * cell_state + gates["input"] * gates["candidate"]
            if self.output_gate_sees_new
            else cell_state
        )
        return {**gates, "output": torch.sigmoid(output_gate + self._peep("output", seen))}

    def _peep(
        self, gate: str, cell_state: Float[Tensor, "batch hidden"]
    ) -> Float[Tensor, "batch hidden"] | float:
        if gate not in self.peephole_gates:
            return 0.0
        weights = self.peephole.chunk(len(self.peephole_gates))[
            self.peephole_gates.index(gate)
        ]  # (hidden, hidden), or the diagonal (1, hidden)
        return cell_state @ weights.T if self.is_full else cell_state * weights

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["input"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        cell_state = gates["forget"] * state[1] + gates["input"] * gates["candidate"]
        hidden = gates["output"] * torch.tanh(cell_state)
        return hidden, (hidden, cell_state)

    def all_peepholes(self) -> Float[Tensor, "gates hidden"]:
        """The weights of all three gates, with zeros for a gate without a peephole, which gives the same
        cell.
        """
        if len(self.peephole_gates) == len(GATES):
            return self.peephole
        blocks = dict(zip(self.peephole_gates, self.peephole.chunk(len(self.peephole_gates)), strict=True))
        blind = torch.zeros_like(next(iter(blocks.values())))
        return torch.cat([blocks.get(gate, blind) for gate in GATES])

    def extra_repr(self) -> str:
        kind, seen = (
            "full" if self.is_full else "diagonal",
            "new" if self.output_gate_sees_new else "previous",
        )
        return (
            f"{super().extra_repr()}, peepholes={kind}, gates=({', '.join(self.peephole_gates)}),"
            f" output_gate_sees={seen}"
        )


def _in_order(gates: Sequence[str]) -> tuple[str, ...]:
    for gate in gates:
        if gate not in GATES:
            raise UsageError(f"gates: a peephole LSTM has no gate '{gate}'.", cure=nearest(gate, GATES))
    if not gates or len(set(gates)) != len(gates):
        raise UsageError(
            f"gates: {listed(list(gates))}; list at least one gate, and each gate only once.",
            cure=(
                "Choose from input, forget, output. For gates that do not see the cell state, use the"
                " lstm cell."
            ),
        )
    return tuple(gate for gate in GATES if gate in gates)

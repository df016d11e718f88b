"""The additive update on its own: a gate blends the old state with any candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.gate_convention import flip_gate_sign, update_gate_coefficients
from seqlab.cells.option_types import Bias, GateConvention, Keep
from seqlab.cells.options import check_choice
from seqlab.core.errors import UsageError, nearest

CANDIDATES: dict[str, Callable[[Tensor], Tensor]] = {
    "recurrent": torch.tanh,
    "input": torch.tanh,
    "linear": lambda sums: sums,
}


@cells.register("additive")
class Additive(GatedCell):
    """One step of the additive update. Gate order: gate, candidate.

        gate      = σ(W_u x + U_u hidden + b_u)
        hidden'   = gate ⊙ hidden + (1 - gate) ⊙ candidate        keep = "old", as above: the gate at 1 keeps the old state
        hidden'   = (1 - gate) ⊙ hidden + gate ⊙ candidate        keep = "new": σ(-a) = 1 - σ(a), so the two differ by the gate's sign

    The state changes by addition, so the gradient has a path through time without matrix products;
    `closed_form` writes the state as a weighted sum of all candidates. Candidates by name:

        recurrent   tanh(W_c x + U_c hidden + b_c)      input   tanh(W_c x + b_c)      linear   W_c x + b_c

    candidate: one of these names, or any function (W_c x + b_c, hidden) -> candidate; a module brings its own
    parameters.
    """

    num_gates = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: Bias = True,
        candidate: Annotated[
            Literal["recurrent", "input", "linear"] | Callable[[Any, Any], Any],
            Field(description="The candidate: tanh(W x + U hidden + b), tanh(W x + b), or W x + b."),
        ] = "recurrent",
        keep: Keep = "old",
    ) -> None:
        if isinstance(candidate, str) and candidate not in CANDIDATES:
            raise UsageError(
                f"there is no candidate called '{candidate}'.", cure=nearest(candidate, CANDIDATES)
            )
        self.keep: GateConvention = check_choice("keep", keep, ("old", "new"))
        self._candidate_sees_state = candidate == "recurrent"
        super().__init__(input_size, hidden_size, bias=bias)
        self.candidate = candidate

    @property
    def num_recurrent_gates(self) -> int:
        return 2 if self._candidate_sees_state else 1

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        size = self.hidden_size
        gate = projected[:, :size] + state[0] @ self.recurrent[:size].T
        return {"gate": torch.sigmoid(gate), "candidate": self._candidate(projected[:, size:], state[0])}

    def _candidate(
        self, projected: Float[Tensor, "batch hidden"], hidden: Float[Tensor, "batch hidden"]
    ) -> Float[Tensor, "batch hidden"]:
        if not isinstance(self.candidate, str):
            return self.candidate(projected, hidden)
        sums = (
            projected + hidden @ self.recurrent[self.hidden_size :].T
            if self._candidate_sees_state
            else projected
        )
        return CANDIDATES[self.candidate](sums)

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return update_gate_coefficients(gates["gate"], self.keep)

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        keep, write = self.mixing_coefficients(gates)
        hidden = keep * state[0] + write * gates["candidate"]
        return hidden, (hidden,)


@torch.no_grad()
def flip_convention(cell: Additive) -> Additive:
    """The same function with the other `keep`: a copy with the gate's weights negated. A candidate given as a
    module is shared, not copied.
    """
    keep: Keep = "new" if cell.keep == "old" else "old"
    other = Additive(
        cell.input_size, cell.hidden_size, bias=cell.bias is not None, candidate=cell.candidate, keep=keep
    ).to(cell.input)
    for flipped, weight in zip(other.parameters(recurse=False), cell.parameters(recurse=False), strict=True):
        flipped.copy_(flip_gate_sign(weight, gate=0, hidden_size=cell.hidden_size))
    return other

"""A recurrent cell with a single gate, which mixes the old state and a new candidate."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import State, cells
from seqlab.cells.gate_convention import UpdateGateCell
from seqlab.cells.option_types import Bias, Keep
from seqlab.cells.options import check_choice


@cells.register("single_gate")
class SingleGate(UpdateGateCell):
    """One step of a gated cell without a reset gate. Gate order: update, candidate.

        update    = σ(W_g x + U_g h + b_g)
        candidate = tanh(W_c x + U_c h + b_c)
        hidden'   = (1 - update) ⊙ hidden + update ⊙ candidate

    Lectures print it with s for the hidden state, g for the gate and no biases: s' = (1 - g) ⊙ s + g ⊙
    tanh(W_ss s + W_sx x). It is a GRU whose reset gate is always open; seqlab.cells.conversions.gru converts
    it to one.

    keep: what the gate at 1 keeps; "old" swaps its two places in the last line.
    """

    num_gates = 2
    update_gate = 0

    def __init__(self, input_size: int, hidden_size: int, *, bias: Bias = True, keep: Keep = "new") -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.keep = check_choice("keep", keep, ("old", "new"))

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        update, candidate = (projected + state[0] @ self.recurrent.T).chunk(2, dim=-1)
        return {"update": torch.sigmoid(update), "candidate": torch.tanh(candidate)}

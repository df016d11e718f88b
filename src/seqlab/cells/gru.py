"""The gated recurrent unit as torch has it: the reset gate acts after the recurrent product."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.base import State, cells
from seqlab.cells.gate_convention import UpdateGateCell
from seqlab.cells.option_types import Bias, Keep
from seqlab.cells.options import check_choice


@cells.register("gru")
class GRU(UpdateGateCell):
    """One step of a GRU. Gate order, as in torch: reset, update, candidate.

        reset     = σ(W_r x + U_r h + b_r)
        update    = σ(W_z x + U_z h + b_z)
        candidate = tanh(W_c x + b_c + reset ⊙ (U_c h + d))
        hidden'   = update ⊙ hidden + (1 - update) ⊙ candidate

    `recurrent_bias` (hidden,) is d. torch and Keras give every gate a second bias, but only the candidate's
    cannot be merged into `bias`, because the reset gate scales it. The variant with the reset before the
    product, as in the paper's last version, is the cell reset_before_gru. Paper: Cho et al. 2014,
    arXiv:1406.1078, section 2.3; the order of reset and product is that of its first version and of cuDNN.

    keep: what the update gate at 1 keeps; "new" swaps its two places in the last line.
    """

    num_gates = 3
    update_gate = 1

    recurrent_bias: nn.Parameter | None

    def __init__(self, input_size: int, hidden_size: int, *, bias: Bias = True, keep: Keep = "old") -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.register_parameter("recurrent_bias", nn.Parameter(torch.empty(hidden_size)) if bias else None)
        self.keep = check_choice("keep", keep, ("old", "new"))
        self.reset_parameters()

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        reset, update, candidate = projected.chunk(3, dim=-1)
        to_reset, to_update, product = (state[0] @ self.recurrent.T).chunk(3, dim=-1)
        if self.recurrent_bias is not None:
            product = product + self.recurrent_bias
        reset = torch.sigmoid(reset + to_reset)
        return {
            "reset": reset,
            "update": torch.sigmoid(update + to_update),
            "candidate": torch.tanh(candidate + reset * product),
        }

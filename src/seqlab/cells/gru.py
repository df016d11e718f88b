"""The gated recurrent unit as torch has it: the reset gate acts after the recurrent product."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.base import State, cells
from seqlab.cells.fast.apply import applied
from seqlab.cells.fast.gru import GRUWalk, torch_walk
from seqlab.cells.gate_convention import Keep, KeepingCell, keeping_old
from seqlab.cells.native.library import native
from seqlab.cells.native.scan import HiddenWalk
from seqlab.cells.options import chosen
from seqlab.cells.step_layout import Path


@cells.register("gru")
class GRU(KeepingCell):
    """One step of a GRU. Gates stand in torch's order: reset, update, candidate.

        reset     = σ(W_r x + U_r h + b_r)
        update    = σ(W_z x + U_z h + b_z)
        candidate = tanh(W_c x + b_c + reset ⊙ (U_c h + d))
        hidden'   = update ⊙ hidden + (1 - update) ⊙ candidate

    `recurrent_bias` (hidden,) is d. torch and Keras give every gate a second bias, but only the candidate's cannot be added to `bias`:
    the reset gate scales it. With the reset before the product, as in the paper's last version, it is the cell reset_before_gru.
    Paper: Cho et al. 2014, arXiv:1406.1078, section 2.3; the order of reset and product is that of cuDNN.

    keep: what the update gate at 1 keeps; "new" swaps its two places in the last line.
    """

    num_gates = 3
    update_gate = 1

    recurrent_bias: nn.Parameter | None

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True, keep: Keep = "old") -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.register_parameter("recurrent_bias", nn.Parameter(torch.empty(hidden_size)) if bias else None)
        self.keep = chosen("keep", keep, ("old", "new"))
        self.reset_parameters()

    def gates(self, projected: Float[Tensor, "batch gates"], state: State) -> dict[str, Float[Tensor, "batch hidden"]]:
        reset, update, candidate = projected.chunk(3, dim=-1)
        to_reset, to_update, product = (state[0] @ self.recurrent.T).chunk(3, dim=-1)
        if self.recurrent_bias is not None:
            product = product + self.recurrent_bias
        reset = torch.sigmoid(reset + to_reset)
        return {"reset": reset, "update": torch.sigmoid(update + to_update), "candidate": torch.tanh(candidate + reset * product)}

    def fast_walk(self, rows: Float[Tensor, "rows input"], state: State, path: Path) -> tuple[Float[Tensor, "rows hidden"], State] | None:
        weights = (*keeping_old(self), self.recurrent_bias)
        if native(rows) is not None:
            outputs, last = applied(HiddenWalk, rows, *weights, state[0], path, "gru")
        elif path.is_full and not torch.is_grad_enabled():  # the only case in which torch's own layer is the faster one
            outputs, last = torch_walk(rows, *weights, state[0], path)
        else:
            outputs, last = applied(GRUWalk, rows, *weights, state[0], path)
        return outputs, (last,)

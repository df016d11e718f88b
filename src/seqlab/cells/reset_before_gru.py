"""The gated recurrent unit of the published paper: the reset gate acts before the recurrent product."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from seqlab.cells.activations import ACTIVATIONS
from seqlab.cells.base import State, cells
from seqlab.cells.gate_convention import UpdateGateCell
from seqlab.cells.option_types import Bias, CandidateActivation, Keep
from seqlab.cells.options import check_choice


@cells.register("reset_before_gru")
class ResetBeforeGRU(UpdateGateCell):
    """One step of the GRU as published in 2014. Gate order: reset, update, candidate.

        reset     = σ(W_r x + U_r h + b_r)
        update    = σ(W_z x + U_z h + b_z)
        candidate = tanh(W_c x + U_c (reset ⊙ h) + b_c)
        hidden'   = update ⊙ hidden + (1 - update) ⊙ candidate

    It differs from torch's GRU, which resets U_c h instead of h: see seqlab.cells.conversions.gru for when
    the two agree. Paper: Cho et al. 2014, arXiv:1406.1078 (third version), section 2.3.

    keep: what the update gate at 1 keeps; "new" swaps its two places in the last line. candidate: the
    activation of the candidate; some lectures print σ. candidate_bias: "outside" is what one lecture prints,
    tanh(W_c x + U_c (reset ⊙ h)) + b_c; the state may then leave ±1.
    """

    num_gates = 3
    update_gate = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: Bias = True,
        keep: Keep = "old",
        candidate: CandidateActivation = "tanh",
        candidate_bias: Annotated[
            Literal["inside", "outside"],
            Field(
                description=(
                    "Add the candidate's bias before its activation, or after it as printed in one lecture."
                )
            ),
        ] = "inside",
    ) -> None:
        super().__init__(input_size, hidden_size, bias=bias)
        self.keep = check_choice("keep", keep, ("old", "new"))
        self.candidate = check_choice("candidate", candidate, ("tanh", "sigmoid"))
        self.candidate_bias = check_choice("candidate_bias", candidate_bias, ("inside", "outside"))

    def project(self, steps: Float[Tensor, "*steps input"]) -> Float[Tensor, "*steps gates"]:
        return F.linear(steps, self.input, self.split_bias(self.bias)[0])

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        size, (hidden, *_) = self.hidden_size, state
        opening, inner = self.recurrent[: 2 * size], self.recurrent[2 * size :]
        reset, update = torch.sigmoid(projected[:, : 2 * size] + hidden @ opening.T).chunk(2, dim=-1)
        candidate = ACTIVATIONS[self.candidate].function(
            projected[:, 2 * size :] + (reset * hidden) @ inner.T
        )
        shift = self.split_bias(self.bias)[1]
        return {
            "reset": reset,
            "update": update,
            "candidate": candidate if shift is None else candidate + shift,
        }

    def split_bias(self, bias: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """The bias added before the activations, and the one added to the candidate after its activation."""
        if bias is None or self.candidate_bias == "inside":
            return bias, None
        before, after = bias[: 2 * self.hidden_size], bias[2 * self.hidden_size :]
        return torch.cat([before, torch.zeros_like(after)]), after

"""The smallest gated unit: gate and candidate see only the input, so the recurrence itself is linear."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell, State, cells


@cells.register("min_gru")
class MinGRU(GatedCell):
    """One step of a minGRU. Gate order: update, candidate; there is no recurrent matrix.

        update    = σ(W_z x + b_z)
        candidate = W_h x + b_h
        hidden'   = (1 - update) ⊙ hidden + update ⊙ candidate

    Gate and candidate do not depend on the state, so all matrix products are done before the scan begins.
    Paper: Feng et al. 2024, "Were RNNs all we needed?", arXiv:2410.01201, section 3.1.
    """

    num_gates = 2

    @property
    def num_recurrent_gates(self) -> int:
        return 0

    def gates(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> dict[str, Float[Tensor, "batch hidden"]]:
        update, candidate = projected.chunk(2, dim=-1)
        return {"update": torch.sigmoid(update), "candidate": candidate}

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return 1 - gates["update"], gates["update"]

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        keep, update = self.mixing_coefficients(gates)
        hidden = keep * state[0] + update * gates["candidate"]
        return hidden, (hidden,)

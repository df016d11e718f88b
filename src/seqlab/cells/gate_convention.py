"""Which state a gate at 1 keeps, the old one or the new one: two conventions that differ by the sign of the
gate's weights.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell, State
from seqlab.cells.option_types import GateConvention


def update_gate_coefficients(
    update: Float[Tensor, "*batch hidden"], keep: GateConvention
) -> tuple[Float[Tensor, "*batch hidden"], Float[Tensor, "*batch hidden"]]:
    """(keep, write) of one step: how much of the old state is kept and how much of the candidate is added."""
    return (update, 1 - update) if keep == "old" else (1 - update, update)


class UpdateGateCell(GatedCell):
    """A cell whose gate number `update_gate` mixes the old state and the candidate.

    hidden' = update ⊙ hidden + (1 - update) ⊙ candidate      with keep = "old"
    hidden' = (1 - update) ⊙ hidden + update ⊙ candidate      with keep = "new"
    """

    update_gate: int
    keep: GateConvention

    def mixing_coefficients(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return update_gate_coefficients(gates["update"], self.keep)

    def step(
        self, projected: Float[Tensor, "batch gates"], state: State
    ) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        keep, write = self.mixing_coefficients(gates)
        hidden = keep * state[0] + write * gates["candidate"]
        return hidden, (hidden,)


def flip_gate_sign(
    weights: Float[Tensor, "gates *columns"], gate: int, hidden_size: int
) -> Float[Tensor, "gates *columns"]:
    """The same weights with the rows of one gate negated: σ(-a) = 1 - σ(a), so the gate keeps what it added
    before.

    >>> import torch
    >>> flip_gate_sign(torch.tensor([1.0, 2.0, 3.0, 4.0]), gate=1, hidden_size=2).tolist()
    [1.0, 2.0, -3.0, -4.0]
    """
    signs = weights.new_ones(len(weights))
    signs[gate * hidden_size : (gate + 1) * hidden_size] = -1
    return weights * signs.view(-1, *[1] * (weights.dim() - 1))


def weights_for_keep_old(cell: UpdateGateCell) -> tuple[Tensor, Tensor, Tensor | None]:
    """(input, recurrent, bias) with which the same cell keeps the old state, so that fast scans only need one
    convention.
    """
    if cell.keep == "old":
        return cell.input, cell.recurrent, cell.bias
    gate, size = cell.update_gate, cell.hidden_size
    bias = None if cell.bias is None else flip_gate_sign(cell.bias, gate, size)
    return flip_gate_sign(cell.input, gate, size), flip_gate_sign(cell.recurrent, gate, size), bias

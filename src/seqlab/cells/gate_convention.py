"""Which state a gate at 1 keeps, the old one or the new one: two conventions that differ by the sign of the gate's weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import GatedCell, State

Keep = Literal["old", "new"]


def mixing_of(update: Float[Tensor, "*batch hidden"], keep: Keep) -> tuple[Float[Tensor, "*batch hidden"], Float[Tensor, "*batch hidden"]]:
    """(keep, write) of one step: how much of the old state stays, and how much of the candidate comes in."""
    return (update, 1 - update) if keep == "old" else (1 - update, update)


class KeepingCell(GatedCell):
    """A cell whose gate number `update_gate` mixes the old state and the candidate.

    hidden' = update ⊙ hidden + (1 - update) ⊙ candidate      with keep = "old"
    hidden' = (1 - update) ⊙ hidden + update ⊙ candidate      with keep = "new"
    """

    update_gate: int
    keep: Keep

    def mixing(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return mixing_of(gates["update"], self.keep)

    def step(self, projected: Float[Tensor, "batch gates"], state: State) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        keep, write = self.mixing(gates)
        hidden = keep * state[0] + write * gates["candidate"]
        return hidden, (hidden,)


def flipped(weights: Float[Tensor, "gates *columns"], gate: int, hidden_size: int) -> Float[Tensor, "gates *columns"]:
    """The same weights with the sign of one gate's rows turned: σ(-a) = 1 - σ(a), so the gate keeps what it wrote before.

    >>> import torch
    >>> flipped(torch.tensor([1.0, 2.0, 3.0, 4.0]), gate=1, hidden_size=2).tolist()
    [1.0, 2.0, -3.0, -4.0]
    """
    signs = weights.new_ones(len(weights))
    signs[gate * hidden_size : (gate + 1) * hidden_size] = -1
    return weights * signs.view(-1, *[1] * (weights.dim() - 1))


def keeping_old(cell: KeepingCell) -> tuple[Tensor, Tensor, Tensor | None]:
    """(input, recurrent, bias) with which the same cell keeps the old state, so that a fast walk knows one convention only."""
    if cell.keep == "old":
        return cell.input, cell.recurrent, cell.bias
    gate, size = cell.update_gate, cell.hidden_size
    bias = None if cell.bias is None else flipped(cell.bias, gate, size)
    return flipped(cell.input, gate, size), flipped(cell.recurrent, gate, size), bias

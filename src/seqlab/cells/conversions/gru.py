"""Convert one GRU variant to another: which variants compute the same function, and why others do not.

keep old ↔ keep new          always: σ(-a) = 1 - σ(a), so the update gate's weights change their sign
single gate → gru            always: a reset gate that is 1/2 everywhere, and twice the candidate's recurrent weights
reset before ↔ reset after   only where U (reset ⊙ h) can be written as reset ⊙ (U' h), see `to_reset_after`
torch's two biases ↔ ours    always: only the candidate's second bias cannot be merged
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.cells.base import Cell
from seqlab.cells.gate_convention import flip_gate_sign
from seqlab.cells.gru import GRU
from seqlab.cells.option_types import GateConvention
from seqlab.cells.options import check_choice
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.cells.single_gate import SingleGate
from seqlab.core.errors import UsageError

UpdateGated = TypeVar("UpdateGated", GRU, ResetBeforeGRU, SingleGate)
CellT = TypeVar("CellT", bound=Cell)

WHY_NOT = (
    "U (reset ⊙ h) equals reset ⊙ (U' h) only if connected units share a reset gate, or if the gates are"
    " constant. Train the other form instead."
)


def with_keep(cell: UpdateGated, keep: GateConvention) -> UpdateGated:
    """The same function in the other convention: a copy whose update gate keeps the new state instead of
    the old one, or vice versa.
    """
    other = copy.deepcopy(cell)
    other.keep = check_choice("keep", keep, ("old", "new"))
    if cell.keep != keep:
        with torch.no_grad():
            for part in (other.input, other.recurrent, other.bias):
                if part is not None:
                    part.copy_(flip_gate_sign(part, cell.update_gate, cell.hidden_size))
    return other


def to_reset_after(cell: ResetBeforeGRU) -> GRU:
    """The same function with the reset gate after the product, or an error that names two units for which no
    such form exists.

    Unit i of the candidate sums U_ij reset_j h_j over j; afterwards it is reset_i · U'_ij h_j. Both agree for
    every state if, wherever U_ij is not zero, the two gates are the same function (U' = U) or both are
    constant (U'_ij = U_ij reset_j / reset_i).
    """
    _reject_other_candidates(cell)
    gates = _ResetGates(cell)
    size = cell.hidden_size
    inner = gates.across_gates(
        cell.recurrent[2 * size :].detach(),
        by=gates.value.unsqueeze(0) / gates.value.unsqueeze(1),
        where="reset_before_gru to gru",
    )
    weights = {"input": cell.input, "recurrent": torch.cat([cell.recurrent[: 2 * size], inner])}
    if cell.bias is not None:
        weights |= {"bias": cell.bias, "recurrent_bias": cell.bias.new_zeros(size)}
    return build_cell(GRU, weights, keep=cell.keep)


def to_reset_before(cell: GRU) -> ResetBeforeGRU:
    """The same function with the reset gate before the product, or an error; the inverse of `to_reset_after`.

    The candidate's second bias must be zero or be scaled by a constant gate, so that it can be merged into
    the first.
    """
    gates = _ResetGates(cell)
    size, where = cell.hidden_size, "gru to reset_before_gru"
    inner = gates.across_gates(
        cell.recurrent[2 * size :].detach(),
        by=gates.value.unsqueeze(1) / gates.value.unsqueeze(0),
        where=where,
    )
    weights = {"input": cell.input, "recurrent": torch.cat([cell.recurrent[: 2 * size], inner])}
    if cell.bias is not None and cell.recurrent_bias is not None:
        left = (cell.recurrent_bias != 0) & ~gates.is_constant
        if bool(left.any()):
            unit = int(left.nonzero()[0])
            raise UsageError(
                f"recurrent_bias of unit {unit} is {cell.recurrent_bias[unit].item():.3g}, and its reset"
                " gate scales it.",
                where=where,
                cure=(
                    "The other form applies the gate before the product and has no such bias: the bias"
                    " must be zero, or the reset gate constant."
                ),
            )
        folded = torch.where(gates.is_constant, gates.value * cell.recurrent_bias, 0)
        weights["bias"] = torch.cat([cell.bias[: 2 * size], cell.bias[2 * size :] + folded])
    return build_cell(ResetBeforeGRU, weights, keep=cell.keep)


def from_single_gate(cell: SingleGate) -> GRU:
    """The same function as a GRU: its reset gate has no weights, so it is 1/2, and doubling the candidate's
    recurrent matrix compensates for it.
    """
    size = cell.hidden_size
    update, candidate = cell.recurrent.split(size)
    weights = {
        "input": torch.cat([torch.zeros_like(cell.input[:size]), cell.input]),
        "recurrent": torch.cat([torch.zeros_like(update), update, 2 * candidate]),
    }
    if cell.bias is not None:
        weights |= {
            "bias": torch.cat([cell.bias.new_zeros(size), cell.bias]),
            "recurrent_bias": cell.bias.new_zeros(size),
        }
    return build_cell(GRU, weights, keep=cell.keep)


def gru_from_torch(weights: Mapping[str, Tensor], suffix: str = "_l0") -> GRU:
    """The cell of one layer and direction of a torch.nn.GRU's state dict: suffix "_l1_reverse", or "" for a
    torch.nn.GRUCell.
    """
    parameters = {"input": weights[f"weight_ih{suffix}"], "recurrent": weights[f"weight_hh{suffix}"]}
    if f"bias_ih{suffix}" in weights:
        first, second = weights[f"bias_ih{suffix}"], weights[f"bias_hh{suffix}"]
        size = len(second) // 3
        parameters["bias"] = torch.cat([first[: 2 * size] + second[: 2 * size], first[2 * size :]])
        parameters["recurrent_bias"] = second[2 * size :]
    return build_cell(GRU, parameters)


def gru_to_torch(cell: GRU, suffix: str = "_l0") -> dict[str, Tensor]:
    """The cell's weights under torch's names. torch keeps the old state, so a cell that keeps the new one is
    flipped first.
    """
    old = with_keep(cell, "old")
    weights = {f"weight_ih{suffix}": old.input.detach(), f"weight_hh{suffix}": old.recurrent.detach()}
    if old.bias is not None and old.recurrent_bias is not None:
        second = torch.cat([old.bias.new_zeros(2 * old.hidden_size), old.recurrent_bias.detach()])
        weights |= {f"bias_ih{suffix}": old.bias.detach(), f"bias_hh{suffix}": second}
    return weights


class _ResetGates:
    """Compare the reset gates of a cell: which are the same function, and which are constant."""

    value: Float[Tensor, "hidden"]
    is_constant: Bool[Tensor, "hidden"]
    is_same: Bool[Tensor, "hidden hidden"]

    def __init__(self, cell: GRU | ResetBeforeGRU) -> None:
        size = cell.hidden_size
        slopes = torch.cat(
            [cell.input[:size], cell.recurrent[:size]], dim=1
        ).detach()  # (hidden, input + hidden)
        bias = slopes.new_zeros(size) if cell.bias is None else cell.bias[:size].detach()
        groups = torch.unique(torch.cat([slopes, bias.unsqueeze(1)], dim=1), dim=0, return_inverse=True)[1]
        self.value = torch.sigmoid(bias)
        self.is_constant = (slopes == 0).all(dim=1) & (self.value > 0)
        self.is_same = groups.unsqueeze(0) == groups.unsqueeze(1)

    def across_gates(
        self, inner: Float[Tensor, "hidden hidden"], *, by: Float[Tensor, "hidden hidden"], where: str
    ) -> Float[Tensor, "hidden hidden"]:
        """The candidate's recurrent matrix moved to the other side of the reset gates, scaled `by` where
        those are constant.
        """
        are_constant = self.is_constant.unsqueeze(0) & self.is_constant.unsqueeze(1)
        stuck = (inner != 0) & ~self.is_same & ~are_constant
        if bool(stuck.any()):
            reader, read = stuck.nonzero()[0].tolist()
            raise UsageError(
                f"candidate {reader} reads unit {read}, but the two units have different reset gates.",
                where=where,
                cure=WHY_NOT,
            )
        return torch.where(self.is_same | ~are_constant, inner, inner * by)


def _reject_other_candidates(cell: ResetBeforeGRU) -> None:
    where = "reset_before_gru to gru"
    if cell.candidate != "tanh":
        cure = (
            "A sigmoid candidate gives states in (0, 1), a tanh candidate in (-1, 1), so no weights make"
            " the two equal."
        )
        raise UsageError(f"the candidate is {cell.candidate}, but a gru uses tanh.", where=where, cure=cure)
    if (
        cell.candidate_bias == "outside"
        and cell.bias is not None
        and bool((cell.bias[2 * cell.hidden_size :] != 0).any())
    ):
        cure = (
            "A bias after the activation can move the candidate beyond ±1, which no bias before it can"
            " do. It must be zero."
        )
        raise UsageError("the candidate's bias is added after its activation.", where=where, cure=cure)


def build_cell(kind: type[CellT], weights: Mapping[str, Tensor], **options: Any) -> CellT:
    """A cell with copies of these weights; nothing random is drawn."""
    with torch.device("meta"):
        cell = kind(
            weights["input"].shape[1], weights["recurrent"].shape[1], bias="bias" in weights, **options
        )
    cell.load_state_dict({name: part.detach().clone() for name, part in weights.items()}, assign=True)
    return cell

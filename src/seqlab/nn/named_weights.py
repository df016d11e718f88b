"""The parameters of a cell under their torch.nn names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from seqlab.cells.base import Cell, uniform_bound
from seqlab.core.errors import UsageError, listed
from seqlab.nn.chosen_cell import ChosenCell

TORCH_NAMES = {
    "input": "weight_ih",
    "recurrent": "weight_hh",
    "projection": "weight_hr",
    "peephole": "weight_ch",
    "input_gain": "gain_ih",
    "recurrent_gain": "gain_hh",
    "cell_gain": "gain_c",
    "cell_shift": "shift_c",
}
"""Maps the cell's parameter names to torch's, or to names in torch's style where torch has none; any other
name is kept.
"""
BIASES = ("bias", "recurrent_bias")


@dataclass(frozen=True, eq=False)
class NamedWeights:
    """One cell of a layer without its parameters, which belong to the layer as `weight_ih_l0` and so on and
    are read at every call.

    torch keeps two biases, b_ih and b_hh, though only their sum matters: `bias` = b_ih + b_hh. The exception
    is the GRU's candidate, whose second bias is scaled by the reset gate: there b_hh ends with the cell's own
    `recurrent_bias`.
    """

    chosen: ChosenCell
    template: Cell
    suffix: str
    """Suffix of every name: "_l0", "_l1_reverse", or empty for a single cell."""

    @classmethod
    def for_cell(
        cls, chosen: ChosenCell, input_size: int, hidden_size: int, *, bias: bool, suffix: str = ""
    ) -> NamedWeights:
        with torch.device("meta"):  # shapes only: no random numbers, no memory
            template = chosen.build(input_size, hidden_size, bias=bias)
        inner = [name for name, _ in template.named_parameters() if "." in name]
        if inner:
            raise UsageError(
                f"the cell {chosen} contains a module with its own parameters: {listed(inner)}.",
                cure=(
                    "torch's naming scheme does not cover them; use such a cell with"
                    " seqlab.blocks.recurrent instead."
                ),
            )
        return cls(chosen, template, suffix)

    @cached_property
    def shapes(self) -> dict[str, torch.Size]:
        """Name and shape of every parameter of the layer, in torch's order: matrices, biases, the rest."""
        parameters = dict(self.template.named_parameters())
        shapes = {
            self._names[name]: parameters[name].shape for name in ("input", "recurrent") if name in parameters
        }
        for name in self._biases:
            shapes[name] = parameters["bias"].shape
        shapes.update({name: parameters[cell_name].shape for cell_name, name in self._names.items()})
        return shapes

    def bind(self, get_parameter: Callable[[str], Tensor]) -> Cell:
        """The cell with the layer's current parameters; gradients flow to them."""
        weights = {cell_name: get_parameter(name) for cell_name, name in self._names.items()}
        biases = [get_parameter(name) for name in self._biases]
        if (
            len(biases) == 2 and biases[0].layout != biases[1].layout
        ):  # their sum would hide a sparse one, which torch rejects
            raise RuntimeError(
                f"{self._biases[0]} is {biases[0].layout}, but {self._biases[1]} is {biases[1].layout}"
            )
        if len(biases) == 2 and self._has_recurrent_bias:
            shared = len(biases[1]) - self.template.hidden_size
            weights["bias"] = torch.cat([biases[0][:shared] + biases[1][:shared], biases[0][shared:]])
            weights["recurrent_bias"] = biases[1][shared:]
        elif biases:
            weights["bias"] = biases[0] + biases[1] if len(biases) == 2 else biases[0]
        return self.template.with_weights(weights)

    def initialize(self, get_parameter: Callable[[str], Tensor]) -> None:
        """Initialize torch's cells as torch does (the same numbers for the same seed), and all others as
        the cell does.
        """
        if self.chosen.initializes_like_torch:
            bound = uniform_bound(self.template.hidden_size)
            for name in self.shapes:
                nn.init.uniform_(get_parameter(name), -bound, bound)
        else:
            with torch.no_grad():
                for name, value in self._of_a_new_cell():
                    get_parameter(name).copy_(value)

    def _of_a_new_cell(self) -> Iterator[tuple[str, Tensor]]:
        cell = self.chosen.build(
            self.template.input_size, self.template.hidden_size, bias=self.template.bias is not None
        )
        parameters = dict(cell.named_parameters())
        for cell_name, name in self._names.items():
            yield name, parameters[cell_name]
        for name in self._biases[:1]:
            yield name, parameters["bias"]
        for name in self._biases[1:]:
            second = torch.zeros_like(parameters["bias"])
            if self._has_recurrent_bias:
                second[-cell.hidden_size :] = parameters["recurrent_bias"]
            yield name, second

    @cached_property
    def _names(self) -> dict[str, str]:
        """Maps the cell's name to the layer's name for every parameter except the biases."""
        cell_names = [name for name, _ in self.template.named_parameters() if name not in BIASES]
        return {cell_name: TORCH_NAMES.get(cell_name, cell_name) + self.suffix for cell_name in cell_names}

    @cached_property
    def _biases(self) -> list[str]:
        """Names of the biases; a cell without recurrent weights has no hidden-to-hidden bias."""
        names = [f"bias_ih{self.suffix}", f"bias_hh{self.suffix}"]
        return [] if self.template.bias is None else names[: 2 if "recurrent" in self._names else 1]

    @cached_property
    def _has_recurrent_bias(self) -> bool:
        return "recurrent_bias" in dict(self.template.named_parameters())

"""The base of RNNCell, LSTMCell and GRUCell: one step of any cell, with torch's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from seqlab.cells.base import State
from seqlab.cells.tracing import is_captured, is_transformed
from seqlab.nn.chosen_cell import CellChoice, ChosenCell, Family, choose_cell
from seqlab.nn.named_weights import NamedWeights
from seqlab.nn.torch_layers import NotQuantized, adopt

TORCH_PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


TORCH_CELLS: dict[Family, Any] = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}
"""torch's original classes, captured because a user may replace them in torch.nn with seqlab's."""


class RecurrentCell(NotQuantized, nn.RNNCellBase):
    """One step: takes the state and returns the next state.

    A subclass also inherits from torch's own cell, which computes the step if it has the same equations.
    """

    family: ClassVar[Family]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        *,
        device: torch.device | str | int | None,
        dtype: torch.dtype | None,
        cell: CellChoice | None,
        options: Mapping[str, Any],
    ) -> None:
        self._weights: NamedWeights | None = None
        super().__init__(input_size, hidden_size, bias, device="meta", dtype=dtype)  # type: ignore[call-arg]  # of torch's cell behind this class
        self.chosen = choose_cell(cell, family=self.family, where=type(self).__name__, extra_options=options)
        self._weights = NamedWeights.for_cell(self.chosen, input_size, hidden_size, bias=bias)
        for name in TORCH_PARAMETERS:
            delattr(self, name)
        for name in (*TORCH_PARAMETERS, *self._weights.shapes):
            shape = self._weights.shapes.get(name)
            self.register_parameter(
                name, None if shape is None else nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self._weights is not None:  # torch's constructor calls this before the weights exist
            self._weights.initialize(self._read)

    def _read(self, name: str) -> Tensor:
        return getattr(self, name)

    @property
    def _matches_torch(self) -> bool:
        return self.chosen.matches_torch and self.chosen.name != "projected_lstm"

    @property
    def _is_left_to_torch(self) -> bool:
        """Whether torch's own cell runs this call: it has the same equations, but few transforms of
        torch.func.
        """
        return self._matches_torch and (is_captured() or not is_transformed())

    def _step(self, inputs: Tensor, state: State | None) -> State:
        """The next state of a batch (batch, input) or of a single sequence (input,)."""
        assert self._weights is not None
        cell = self._weights.bind(self._read).materialize_weights()
        self._check(inputs, state, cell.state_sizes)
        batch = inputs if inputs.dim() == 2 else inputs.unsqueeze(0)
        batched_state = (
            state if state is None or inputs.dim() == 2 else tuple(part.unsqueeze(0) for part in state)
        )
        _, last = cell(batch, batched_state)
        return last if inputs.dim() == 2 else tuple(part.squeeze(0) for part in last)

    def _check(self, inputs: Tensor, state: State | None, sizes: tuple[int, ...]) -> None:
        """Reject what torch's cells reject, with the same messages."""
        name = type(self).__name__
        if inputs.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {inputs.dim()}D instead")
        if inputs.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {inputs.shape[-1]} expected {self.input_size}"
            )
        for number, (part, size) in enumerate(zip(state or (), sizes, strict=state is not None)):
            place = "hidden" if len(sizes) == 1 else f"hx[{number}]"
            if part.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected {place} to be 1D or 2D, got {part.dim()}D instead")
            if part.shape != (*inputs.shape[:-1], size):
                raise RuntimeError(
                    f"{name}: Expected {place} size {(*inputs.shape[:-1], size)}, got {list(part.shape)}"
                )

    def to_torch(self) -> nn.Module:
        if not self._matches_torch:
            raise self.no_counterpart_error(f"the cell is {self.chosen}")
        arguments: dict[str, Any] = {"nonlinearity": self.nonlinearity} if self.family == "rnn" else {}
        sizes = (self.input_size, self.hidden_size, self.bias)
        return adopt(TORCH_CELLS[self.family](*sizes, **arguments, device="meta"), self)

    def __getstate__(self) -> dict[str, Any]:
        """Plain data and tensors, so that torch.load needs to be allowed this class alone."""
        return {**self.__dict__, "chosen": self.chosen.to_plain(), "_weights": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # torch's
        self.chosen = ChosenCell.from_plain(state["chosen"])
        self._weights = NamedWeights.for_cell(self.chosen, self.input_size, self.hidden_size, bias=self.bias)

    def extra_repr(self) -> str:
        return (
            f"{self.input_size}, {self.hidden_size}"
            + ("" if self.bias else ", bias=False")
            + self.chosen.describe()
        )

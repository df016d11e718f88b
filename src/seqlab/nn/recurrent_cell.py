"""The base of RNNCell, LSTMCell and GRUCell: one step of any cell, with torch's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from seqlab.cells.base import State
from seqlab.nn.chosen_cell import CellChoice, Family, choose_cell
from seqlab.nn.named_weights import NamedWeights
from seqlab.nn.scripting import scriptable

TORCH_PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class RecurrentCell(nn.RNNCellBase):
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

    def __prepare_scriptable__(self) -> nn.Module:
        """What torch.jit.script compiles in place of this cell."""
        arguments: dict[str, Any] = {
            "input_size": self.input_size,
            "hidden_size": self.hidden_size,
            "bias": self.bias,
        }
        if self.family == "rnn":
            arguments["nonlinearity"] = self.nonlinearity
        return scriptable(
            self,
            self.chosen,
            name=f"{self.family.upper()}Cell",
            matches_torch=self._matches_torch,
            arguments=arguments,
        )

    def extra_repr(self) -> str:
        return (
            f"{self.input_size}, {self.hidden_size}"
            + ("" if self.bias else ", bias=False")
            + self.chosen.describe()
        )

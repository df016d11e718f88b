"""torch.nn.RNNCell, LSTMCell and GRUCell, with a choice of cells: one step at a time, carrying the state."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from seqlab.nn.chosen_cell import CellChoice, Family, Nonlinearity
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.recurrent_cell import RecurrentCell
from seqlab.nn.unknown_arguments import suggests_arguments


class RNNCell(RecurrentCell, nn.RNNCell):
    """torch.nn.RNNCell: hidden' = cell(input, hidden).

    nonlinearity: tanh (default), relu, sigmoid, identity, or any function of a tensor. cell: "orthogonal",
    any cell without a cell state, or {"kind": name, option: value}.
    """

    family: ClassVar[Family] = "rnn"

    @suggests_arguments
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Nonlinearity | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        cell: CellChoice | None = None,
    ) -> None:
        options = {} if nonlinearity is None else {"activation": nonlinearity}
        super().__init__(
            input_size, hidden_size, bias, device=device, dtype=dtype, cell=cell, options=options
        )
        self.nonlinearity = getattr(self._weights and self._weights.template, "activation", "tanh")

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:  # noqa: A002 - torch's name
        if (node := as_fx_node(self, input, hx)) is not None:
            return node
        if self._is_left_to_torch:
            return super().forward(input, hx)
        return self._step(input, None if hx is None else (hx,))[0]


class LSTMCell(RecurrentCell, nn.LSTMCell):
    """torch.nn.LSTMCell: hidden', cell_state' = cell(input, (hidden, cell_state)).

    cell: "peephole", "coupled", "layer_norm", any cell with a cell state, or {"kind": name, option: value}.

    >>> cell, state = LSTMCell(3, 5, cell="coupled"), None
    >>> for word in torch.randn(7, 3):
    ...     state = cell(word, state)
    >>> state[0].shape
    torch.Size([5])
    """

    family: ClassVar[Family] = "lstm"

    @suggests_arguments
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        cell: CellChoice | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device=device, dtype=dtype, cell=cell, options={})

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:  # noqa: A002 - torch's name
        if (node := as_fx_node(self, input, hx)) is not None:
            return node
        if self._is_left_to_torch:
            return super().forward(input, hx)
        hidden, cell_state = self._step(input, hx)
        return hidden, cell_state


class GRUCell(RecurrentCell, nn.GRUCell):
    """torch.nn.GRUCell: hidden' = cell(input, hidden).

    cell: "reset_before", "single_gate", "min", any cell without a cell state, or {"kind": name, option:
    value}.
    """

    family: ClassVar[Family] = "gru"

    @suggests_arguments
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        cell: CellChoice | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device=device, dtype=dtype, cell=cell, options={})

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:  # noqa: A002 - torch's name
        if (node := as_fx_node(self, input, hx)) is not None:
            return node
        if self._is_left_to_torch:
            return super().forward(input, hx)
        return self._step(input, None if hx is None else (hx,))[0]

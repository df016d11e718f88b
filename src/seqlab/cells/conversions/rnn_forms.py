"""Six textbook notations of the plain recurrent network, each with its own symbols, and conversions between
them.

    Transposed       h' = tanh(W_hhᵀ h + W_xhᵀ x)           y = W_hyᵀ h'           matrices stored transposed, no biases
    ClassSketch      h' = tanh(W_hh h + W_xh x)             y = W_hy h'            three matrices, no biases, h starts at zero
    Stacked          h' = tanh(W [h; x] + b)                                       one matrix for both
    Separate         h' = tanh(W_hh h + W_xh x + b_h)       y = W_hy h' + b_o      three matrices, two biases
    TwoBiases        h' = tanh(W_ih x + b_ih + W_hh h + b_hh)                      torch's form
    OneBias          h' = tanh(W x + U h + b)

Each form converts to and from a cell and its output layer: `Stacked.from_cell(form.to_cell())`, or
`convert_form(form, Separate)`, which includes the output layer. Anything a form cannot represent raises an
error and is never dropped. Vectors are rows here, so W h is written `h @ W.T`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError

Hidden = Float[Tensor, "batch hidden"]
Output = Float[Tensor, "batch output"]


class RNNForm(ABC):
    """One notation of the plain recurrent network."""

    @abstractmethod
    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        """(y, h'): the output, if the form has one, and the new state."""

    @abstractmethod
    def to_cell(self) -> RNN:
        """The cell with the same numbers."""

    def to_output_layer(self) -> nn.Linear | None:
        """The output layer with the same numbers, if the form has one."""
        return None

    @classmethod
    @abstractmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        """This form with the numbers of a cell (tanh) and, if the form has one, of an output layer."""


Other = TypeVar("Other", bound=RNNForm)


def convert_form(form: RNNForm, kind: type[Other]) -> Other:
    """The same network in another form; an error explains why if the other form cannot represent it."""
    return kind.from_cell(form.to_cell(), form.to_output_layer())


@dataclass(frozen=True, eq=False)
class Transposed(RNNForm):
    """h' = tanh(W_hhᵀ h + W_xhᵀ x), y = W_hyᵀ h'.

    Stored are W_hh (hidden, hidden), W_xh (input, hidden), W_hy (hidden, output).
    """

    W_hh: Tensor
    W_xh: Tensor
    W_hy: Tensor

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        h = torch.tanh(h @ self.W_hh + x @ self.W_xh)  # (Wᵀ h)ᵀ = hᵀ W
        return h @ self.W_hy, h

    def to_cell(self) -> RNN:
        return _cell(self.W_xh.T, self.W_hh.T, None)

    def to_output_layer(self) -> nn.Linear:
        return _linear(self.W_hy.T, None)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        inputs, recurrent = _without_bias(cls, cell)
        return cls(recurrent.T, inputs.T, _plain(_needed(cls, output_layer), cls).T)


@dataclass(frozen=True, eq=False)
class ClassSketch(RNNForm):
    """h' = tanh(W_hh h + W_xh x), y = W_hy h', from h = 0. Stored are W_xh (units, input), W_hh (units,
    units), W_hy (output, units).

    The lecture's sketch of a class writes these products with *, which in Python multiplies element by
    element; matrix products are meant, and `step` computes them. `printed_step` computes what is printed.
    """

    W_xh: Tensor
    W_hh: Tensor
    W_hy: Tensor

    def zero_state(self, batch: int) -> Hidden:
        return self.W_hh.new_zeros(batch, len(self.W_hh))

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        h = torch.tanh(h @ self.W_hh.T + x @ self.W_xh.T)
        return h @ self.W_hy.T, h

    def printed_step(
        self, x: Float[Tensor, "input one"], h: Float[Tensor, "units columns"]
    ) -> Float[Tensor, "units units"]:
        """The misprint, on columns: W_hh * h broadcasts h over the columns of W_hh, so the state becomes a
        matrix. It only runs if the input size equals the number of units.
        """
        return torch.tanh(self.W_hh * h + self.W_xh * x)

    def to_cell(self) -> RNN:
        return _cell(self.W_xh, self.W_hh, None)

    def to_output_layer(self) -> nn.Linear:
        return _linear(self.W_hy, None)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        return cls(*_without_bias(cls, cell), _plain(_needed(cls, output_layer), cls))


@dataclass(frozen=True, eq=False)
class Stacked(RNNForm):
    """h' = tanh(W [h; x] + b): one matrix (hidden, hidden + input) on the state above the input."""

    W: Tensor
    b: Tensor

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        return None, torch.tanh(torch.cat([h, x], dim=-1) @ self.W.T + self.b)

    def to_cell(self) -> RNN:
        return _cell(self.W[:, len(self.b) :], self.W[:, : len(self.b)], self.b)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        _reject_output_layer(cls, output_layer)
        inputs, recurrent, bias = _numbers(cls, cell)
        return cls(torch.cat([recurrent, inputs], dim=1), bias)


@dataclass(frozen=True, eq=False)
class Separate(RNNForm):
    """h' = tanh(W_hh h + W_xh x + b_h), y = W_hy h' + b_o: exactly three matrices and two biases, the same at
    every step.
    """

    W_hh: Tensor
    W_xh: Tensor
    b_h: Tensor
    W_hy: Tensor
    b_o: Tensor

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        h = torch.tanh(h @ self.W_hh.T + x @ self.W_xh.T + self.b_h)
        return h @ self.W_hy.T + self.b_o, h

    def to_cell(self) -> RNN:
        return _cell(self.W_xh, self.W_hh, self.b_h)

    def to_output_layer(self) -> nn.Linear:
        return _linear(self.W_hy, self.b_o)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        inputs, recurrent, bias = _numbers(cls, cell)
        layer = _needed(cls, output_layer)
        weight = layer.weight.detach().clone()
        return cls(
            recurrent,
            inputs,
            bias,
            weight,
            weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach().clone(),
        )


@dataclass(frozen=True, eq=False)
class TwoBiases(RNNForm):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh): torch's form.

    Only the sum of its biases matters; made from a cell, b_hh is zero.
    """

    W_ih: Tensor
    b_ih: Tensor
    W_hh: Tensor
    b_hh: Tensor

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        return None, torch.tanh(x @ self.W_ih.T + self.b_ih + h @ self.W_hh.T + self.b_hh)

    def to_cell(self) -> RNN:
        return _cell(self.W_ih, self.W_hh, self.b_ih + self.b_hh)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        _reject_output_layer(cls, output_layer)
        inputs, recurrent, bias = _numbers(cls, cell)
        return cls(inputs, bias, recurrent, torch.zeros_like(bias))

    @torch.no_grad()
    def to_torch_layer(self) -> nn.RNN:
        """The torch layer with these numbers, batch first."""
        layer = nn.RNN(
            self.W_ih.shape[1],
            len(self.W_hh),
            batch_first=True,
            dtype=self.W_ih.dtype,
            device=self.W_ih.device,
        )
        for parameter, value in zip(
            layer.parameters(), (self.W_ih, self.W_hh, self.b_ih, self.b_hh), strict=True
        ):
            parameter.copy_(value)
        return layer

    @classmethod
    def from_torch_layer(cls, layer: nn.RNN) -> Self:
        """The numbers of torch's layer: one layer, one direction, tanh."""
        unsupported = [
            *([f"{layer.num_layers} layers"] if layer.num_layers > 1 else []),
            *(["two directions"] if layer.bidirectional else []),
            *([layer.nonlinearity] if layer.nonlinearity != "tanh" else []),
        ]
        if unsupported:
            raise UsageError(
                f"this nn.RNN has {' and '.join(unsupported)}; only one unidirectional tanh layer is supported."
            )
        W_ih, W_hh, *biases = (parameter.detach().clone() for parameter in layer.parameters())
        b_ih, b_hh = biases or (W_hh.new_zeros(len(W_hh)), W_hh.new_zeros(len(W_hh)))
        return cls(W_ih, b_ih, W_hh, b_hh)


@dataclass(frozen=True, eq=False)
class OneBias(RNNForm):
    """h' = tanh(W x + U h + b): the form of this package's cell."""

    W: Tensor
    U: Tensor
    b: Tensor

    def step(self, x: Float[Tensor, "batch input"], h: Hidden) -> tuple[Output | None, Hidden]:
        return None, torch.tanh(x @ self.W.T + h @ self.U.T + self.b)

    def to_cell(self) -> RNN:
        return _cell(self.W, self.U, self.b)

    @classmethod
    def from_cell(cls, cell: RNN, output_layer: nn.Linear | None = None) -> Self:
        _reject_output_layer(cls, output_layer)
        return cls(*_numbers(cls, cell))


def _numbers(kind: type[RNNForm], cell: RNN) -> tuple[Tensor, Tensor, Tensor]:
    """W, U and b of a tanh cell, copied; zeros for a bias that it does not have."""
    if cell.activation != "tanh":
        raise UsageError(
            f"{kind.__name__} uses tanh, but this cell's activation is {cell.activation}.",
            cure="Convert a cell with activation='tanh'.",
        )
    inputs, recurrent = cell.input.detach().clone(), cell.recurrent.detach().clone()
    return (
        inputs,
        recurrent,
        inputs.new_zeros(len(inputs)) if cell.bias is None else cell.bias.detach().clone(),
    )


def _without_bias(kind: type[RNNForm], cell: RNN) -> tuple[Tensor, Tensor]:
    inputs, recurrent, bias = _numbers(kind, cell)
    if bool((bias != 0).any()):
        raise UsageError(
            f"{kind.__name__} has no bias for the state, but this cell's bias is not zero.",
            cure="Use Separate, Stacked, TwoBiases or OneBias, which have one.",
        )
    return inputs, recurrent


def _needed(kind: type[RNNForm], output_layer: nn.Linear | None) -> nn.Linear:
    if output_layer is None:
        raise UsageError(
            f"{kind.__name__} needs an output layer.",
            cure=f"Call {kind.__name__}.from_cell(cell, output_layer) with an nn.Linear.",
        )
    return output_layer


def _reject_output_layer(kind: type[RNNForm], output_layer: nn.Linear | None) -> None:
    if output_layer is not None:
        raise UsageError(
            f"{kind.__name__} has no output layer.",
            cure=f"Keep the output layer separate: {kind.__name__}.from_cell(form.to_cell()).",
        )


def _plain(output_layer: nn.Linear, kind: type[RNNForm]) -> Tensor:
    """The matrix of an output layer without bias."""
    if output_layer.bias is not None and bool((output_layer.bias != 0).any()):
        raise UsageError(
            f"{kind.__name__} has no bias for the output, but the output layer's bias is not zero.",
            cure="Use Separate, which has one.",
        )
    return output_layer.weight.detach().clone()


@torch.no_grad()
def _cell(inputs: Tensor, recurrent: Tensor, bias: Tensor | None) -> RNN:
    cell = RNN(inputs.shape[1], len(recurrent), bias=bias is not None).to(inputs)
    cell.input.copy_(inputs)
    cell.recurrent.copy_(recurrent)
    if bias is not None and cell.bias is not None:
        cell.bias.copy_(bias)
    return cell


@torch.no_grad()
def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    layer = nn.Linear(
        weight.shape[1], len(weight), bias=bias is not None, dtype=weight.dtype, device=weight.device
    )
    layer.weight.copy_(weight)
    if bias is not None:
        layer.bias.copy_(bias)
    return layer

"""Convert weights between torch's recurrent layers and the cells with the same equations.

    torch.nn.RNN    ↔ rnn (tanh or relu)
    torch.nn.LSTM   ↔ lstm; with proj_size ↔ projected_lstm; coupled_lstm → as an LSTM whose input gate mirrors its forget gate
    torch.nn.GRU    ↔ gru

torch has two biases for every gate, of which only the sum matters, so a cell has one: b = b_ih + b_hh, and
back b_ih = b, b_hh = 0. The GRU's candidate is the exception and keeps both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.cells.base import Cell
from seqlab.cells.conversions.gru import gru_from_torch, gru_to_torch
from seqlab.cells.coupled_lstm import CoupledLSTM
from seqlab.cells.gru import GRU
from seqlab.cells.lstm import LSTM
from seqlab.cells.projected_lstm import ProjectedLSTM
from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError


def from_torch(layer: nn.RNNBase, layer_number: int = 0, *, reverse: bool = False) -> Cell:
    """The cell of one layer and direction of a torch.nn.RNN, LSTM or GRU, with copies of its weights.

    >>> from_torch(nn.LSTM(3, 5, num_layers=2), 1)
    LSTM(5, 5)
    """
    suffix = _suffix(layer_number, reverse=reverse)
    named = layer.state_dict()
    if f"weight_ih{suffix}" not in named:
        directions = 2 if layer.bidirectional else 1
        raise UsageError(
            f"the {type(layer).__name__} has no layer {layer_number}{' in reverse' if reverse else ''}.",
            cure=(
                f"Valid layers: 0 to {layer.num_layers - 1}, each with {directions}"
                f" direction{'s' if directions > 1 else ''}."
            ),
        )
    weights = {"input": named[f"weight_ih{suffix}"], "recurrent": named[f"weight_hh{suffix}"]}
    if layer.bias:
        weights["bias"] = named[f"bias_ih{suffix}"] + named[f"bias_hh{suffix}"]
    if isinstance(layer, nn.GRU):
        return gru_from_torch(named, suffix)
    if isinstance(layer, nn.RNN):
        return _built(RNN, layer, weights, activation=layer.nonlinearity)
    if layer.proj_size:
        return _built(
            ProjectedLSTM,
            layer,
            {**weights, "projection": named[f"weight_hr{suffix}"]},
            proj_size=layer.proj_size,
        )
    return _built(LSTM, layer, weights)


def to_torch(cell: Cell, layer_number: int = 0, *, reverse: bool = False) -> dict[str, Tensor]:
    """The entries of a torch layer's state dict that hold this cell, or an error that says why torch has no
    such cell.

    >>> sorted(to_torch(RNN(3, 5, bias=False), 1, reverse=True))
    ['weight_hh_l1_reverse', 'weight_ih_l1_reverse']
    """
    suffix = _suffix(layer_number, reverse=reverse)
    if isinstance(cell, GRU):
        return gru_to_torch(cell, suffix)
    refusal = _refusal(cell)
    if refusal:
        raise UsageError(
            f"torch has no layer with the equations of {type(cell).__name__}: {refusal}",
            cure="Keep this cell and run it with seqlab.nn.",
        )
    rows = _with_input_gate if isinstance(cell, CoupledLSTM) else _unchanged
    entries = {
        f"weight_ih{suffix}": rows(cell.input.detach()),
        f"weight_hh{suffix}": rows(cell.recurrent.detach()),
    }
    if cell.bias is not None:
        bias = rows(cell.bias.detach())
        entries |= {f"bias_ih{suffix}": bias, f"bias_hh{suffix}": torch.zeros_like(bias)}
    if isinstance(cell, ProjectedLSTM):
        entries[f"weight_hr{suffix}"] = cell.projection.detach()
    return entries


def _refusal(cell: Cell) -> str:
    """Why torch cannot hold a cell; empty if it can."""
    if isinstance(cell, RNN):
        return "" if cell.activation in ("tanh", "relu") else "its RNN supports only tanh and relu."
    if isinstance(cell, LSTM):
        return "" if cell.candidate == "tanh" else "its LSTM supports only a tanh candidate."
    return (
        ""
        if isinstance(cell, ProjectedLSTM | CoupledLSTM)
        else ("it supports RNN, LSTM, projected LSTM and GRU.")
    )


def _with_input_gate(rows: Tensor) -> Tensor:
    """forget, candidate, output -> input, forget, candidate, output with input = 1 - σ(a) = σ(-a)."""
    forget_gate, candidate, output_gate = rows.chunk(3)
    return torch.cat([-forget_gate, forget_gate, candidate, output_gate])


def _unchanged(rows: Tensor) -> Tensor:
    return rows


def _suffix(layer_number: int, *, reverse: bool) -> str:
    return f"_l{layer_number}{'_reverse' if reverse else ''}"


def _built(kind: Callable[..., Cell], layer: nn.RNNBase, weights: dict[str, Tensor], **options: Any) -> Cell:
    with torch.device("meta"):  # nothing random is drawn
        cell = kind(weights["input"].shape[1], layer.hidden_size, bias=layer.bias, **options)
    cell.load_state_dict({name: part.detach().clone() for name, part in weights.items()}, assign=True)
    return cell

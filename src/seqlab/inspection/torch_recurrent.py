"""torch's recurrent layers, and seqlab's with torch's interface, converted to cells for inspection."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.merge import MERGES
from seqlab.cells.base import Cell
from seqlab.nn.chosen_cell import ChosenCell, choose_cell
from seqlab.nn.named_weights import NamedWeights
from seqlab.nn.recurrent import Recurrent
from seqlab.nn.recurrent_cell import RecurrentCell


def bind_torch_layer(layer: nn.RNNBase, number: int, *, reverse: bool) -> Cell:
    """Layer `number` in one direction as a cell that shares the tensors of `layer`: nothing is copied, and
    gradients flow to them.
    """
    suffix = f"_l{number}_reverse" if reverse else f"_l{number}"
    chosen = layer.chosen if isinstance(layer, Recurrent) else _torch_cell_choice(layer)
    width = layer.hidden_sizes[number] if isinstance(layer, Recurrent) else layer.hidden_size
    return _bind(layer, chosen, getattr(layer, f"weight_ih{suffix}").shape[1], width, suffix)


def bind_torch_cell(cell: nn.RNNCellBase) -> Cell:
    """A torch cell as a cell of seqlab that shares its tensors."""
    return _bind(
        cell,
        cell.chosen if isinstance(cell, RecurrentCell) else _torch_cell_choice(cell),
        cell.input_size,
        cell.hidden_size,
        "",
    )


def merge_function(layer: nn.RNNBase, number: int) -> Callable[[list[Tensor]], Tensor]:
    """How layer `number` merges its directions, (batch, time, hidden) each; torch's layers concatenate
    them.
    """
    name = layer.merge if isinstance(layer, Recurrent) and layer.bidirectional else "concat"
    if name == "concat":
        return lambda outputs: torch.cat(outputs, dim=-1)
    if name == "learned":
        return lambda outputs: F.linear(
            torch.cat(outputs, dim=-1),
            getattr(layer, f"weight_merge_l{number}"),
            getattr(layer, f"bias_merge_l{number}"),
        )
    return lambda outputs: MERGES[name](outputs[0].shape[-1])(
        *[output.flatten(0, 1) for output in outputs]
    ).view_as(outputs[0])


def _bind(
    layer: nn.RNNBase | nn.RNNCellBase, chosen: ChosenCell, input_size: int, hidden_size: int, suffix: str
) -> Cell:
    named = NamedWeights.for_cell(chosen, input_size, hidden_size, bias=layer.bias, suffix=suffix)
    return named.bind(lambda name: getattr(layer, name)).materialize_weights()


def _torch_cell_choice(layer: nn.RNNBase | nn.RNNCellBase) -> ChosenCell:
    """The cell with torch's equations."""
    where = type(layer).__name__
    if isinstance(layer, nn.GRU | nn.GRUCell):
        return choose_cell("gru", family="gru", where=where)
    if isinstance(layer, nn.RNN | nn.RNNCell):
        return choose_cell("rnn", family="rnn", where=where, extra_options={"activation": layer.nonlinearity})
    if isinstance(layer, nn.LSTM) and layer.proj_size:
        return choose_cell(
            "projected_lstm", family="lstm", where=where, extra_options={"proj_size": layer.proj_size}
        )
    return choose_cell("lstm", family="lstm", where=where)

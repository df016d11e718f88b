"""Common view of everything that can be scanned for inspection: a cell, a layer, a stack, or torch's
layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from seqlab.blocks.recurrent import RecurrentStack
from seqlab.blocks.recurrent_layer import (
    BidirectionalLayer,
    InitialState,
    RecurrentLayer,
    UnidirectionalLayer,
    ZeroState,
)
from seqlab.cells.base import Cell, State
from seqlab.core.errors import UsageError
from seqlab.inspection.torch_recurrent import bind_torch_cell, bind_torch_layer, merge_function

Scannable = RecurrentStack | RecurrentLayer | Cell | nn.RNNBase | nn.RNNCellBase


@dataclass(frozen=True)
class Direction:
    """A cell, its scan direction, and its initial state."""

    cell: Cell
    initial: InitialState
    reverse: bool


@dataclass(frozen=True)
class LayerDirections:
    """One layer: its directions, and how they are merged."""

    directions: tuple[Direction, ...]
    merge: Callable[[list[Tensor]], Tensor]

    @property
    def num_state_tensors(self) -> int:
        return sum(direction.cell.num_state_tensors for direction in self.directions)


def read_layers(layer: Scannable) -> list[LayerDirections]:
    """The layers from the bottom up, without dropout between them, as in evaluation."""
    if isinstance(layer, RecurrentStack):
        return [_read_layer(part) for part in layer.layers]
    if isinstance(layer, RecurrentLayer):
        return [_read_layer(layer)]
    if isinstance(layer, nn.RNNBase):
        return [_read_torch_layer(layer, number) for number in range(layer.num_layers)]
    if isinstance(layer, nn.RNNCellBase):
        return [_single_direction(_from_zeros(bind_torch_cell(layer)))]
    if isinstance(layer, Cell):
        return [_single_direction(_from_zeros(layer.materialize_weights()))]
    raise UsageError(
        f"{type(layer).__name__} is not a recurrent layer.",
        cure=(
            "Pass the recurrent part of the model: a cell, a RecurrentStack or one of its layers, or torch's"
            " RNN, LSTM, GRU (or a cell of these)."
        ),
    )


def flatten_state(layer: Scannable, state: State | Tensor | None) -> State | None:
    """Convert a state to seqlab's flat form (by layer, direction and part), also from torch's form: h_0 or
    (h_0, c_0), layers first.
    """
    if state is None:
        return None
    if not isinstance(layer, nn.RNNBase):
        return (state,) if isinstance(state, Tensor) else tuple(state)
    parts = state if isinstance(layer, nn.LSTM) else (state,)
    rows = [
        list(part) if isinstance(part, Tensor) else [row for block in part for row in block] for part in parts
    ]
    return tuple(part for cell_parts in zip(*rows, strict=True) for part in cell_parts)


def _read_torch_layer(layer: nn.RNNBase, number: int) -> LayerDirections:
    outputs = (False, True) if layer.bidirectional else (False,)
    directions = [
        _from_zeros(bind_torch_layer(layer, number, reverse=output), reverse=output) for output in outputs
    ]
    return LayerDirections(tuple(directions), merge_function(layer, number))


def _read_layer(layer: nn.Module) -> LayerDirections:
    if isinstance(layer, BidirectionalLayer):
        merge = layer.merge

        def merged(outputs: list[Tensor]) -> Tensor:
            rows: Tensor = merge(*[output.flatten(0, 1) for output in outputs])
            return rows.view(*outputs[0].shape[:2], -1)

        return LayerDirections((_direction(layer.onward), _direction(layer.backward)), merged)
    assert isinstance(layer, UnidirectionalLayer)
    return _single_direction(_direction(layer))


def _direction(layer: UnidirectionalLayer) -> Direction:
    return Direction(layer.cell.materialize_weights(), layer.initial, layer.reverse)


def _from_zeros(cell: Cell, *, reverse: bool = False) -> Direction:
    return Direction(cell, ZeroState(cell.state_sizes), reverse)


def _single_direction(direction: Direction) -> LayerDirections:
    """The identity, for a single direction."""
    return LayerDirections((direction,), lambda outputs: outputs[0])

"""What the instruments can walk through: a cell, a layer, a stack, or torch's own layers, all read in one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from seqlab.blocks.initial_state import InitialState, Zeros
from seqlab.blocks.recurrent import RecurrentStack
from seqlab.blocks.recurrent_layer import BothDirections, OneDirection, RecurrentLayer
from seqlab.cells.base import Cell, State
from seqlab.core.errors import UsageError
from seqlab.inspection.torch_recurrent import bind_torch, bind_torch_cell, merge_of

Walkable = RecurrentStack | RecurrentLayer | Cell | nn.RNNBase | nn.RNNCellBase


@dataclass(frozen=True)
class Direction:
    """A cell, the way it walks, and the state it begins with."""

    cell: Cell
    initial: InitialState
    reverse: bool


@dataclass(frozen=True)
class Level:
    """One layer: its directions, and how they become one."""

    directions: tuple[Direction, ...]
    merge: Callable[[list[Tensor]], Tensor]

    @property
    def num_parts(self) -> int:
        return sum(direction.cell.num_parts for direction in self.directions)


def levels_of(layer: Walkable) -> list[Level]:
    """The layers from the bottom up. Dropout between them is left out, as in evaluation."""
    if isinstance(layer, RecurrentStack):
        return [_level(part) for part in layer.layers]
    if isinstance(layer, RecurrentLayer):
        return [_level(layer)]
    if isinstance(layer, nn.RNNBase):
        return [_torch_level(layer, number) for number in range(layer.num_layers)]
    if isinstance(layer, nn.RNNCellBase):
        return [_alone(_from_zeros(bind_torch_cell(layer)))]
    if isinstance(layer, Cell):
        return [_alone(_from_zeros(layer.resolved()))]
    raise UsageError(
        f"{type(layer).__name__} is not a recurrent layer.",
        cure="Give a cell, a RecurrentStack or one of its layers, or torch's RNN, LSTM, GRU (or a cell of these): the part of the model that walks.",
    )


def state_of(layer: Walkable, state: State | Tensor | None) -> State | None:
    """seqlab's flat state (by layer, direction and part), also from what layers with torch's face take: h_0 or (h_0, c_0), layers first."""
    if state is None:
        return None
    if not isinstance(layer, nn.RNNBase):
        return (state,) if isinstance(state, Tensor) else tuple(state)
    parts = state if isinstance(layer, nn.LSTM) else (state,)
    rows = [list(part) if isinstance(part, Tensor) else [row for block in part for row in block] for part in parts]
    return tuple(part for of_one_cell in zip(*rows, strict=True) for part in of_one_cell)


def _torch_level(layer: nn.RNNBase, number: int) -> Level:
    ways = (False, True) if layer.bidirectional else (False,)
    directions = [_from_zeros(bind_torch(layer, number, reverse=way), reverse=way) for way in ways]
    return Level(tuple(directions), merge_of(layer, number))


def _level(layer: nn.Module) -> Level:
    if isinstance(layer, BothDirections):
        merge = layer.merge

        def merged(ways: list[Tensor]) -> Tensor:
            rows: Tensor = merge(*[way.flatten(0, 1) for way in ways])
            return rows.view(*ways[0].shape[:2], -1)

        return Level((_direction(layer.onward), _direction(layer.backward)), merged)
    assert isinstance(layer, OneDirection)
    return _alone(_direction(layer))


def _direction(layer: OneDirection) -> Direction:
    return Direction(layer.cell.resolved(), layer.initial, layer.reverse)


def _from_zeros(cell: Cell, *, reverse: bool = False) -> Direction:
    return Direction(cell, Zeros(cell.state_sizes), reverse)


def _alone(direction: Direction) -> Level:
    """A single direction needs no merge."""
    return Level((direction,), lambda ways: ways[0])

"""A stack of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.locked_dropout import LockedDropout
from seqlab.blocks.merge import MERGES, MergeName
from seqlab.blocks.recurrent_layer import (
    INITIAL_STATES,
    BidirectionalLayer,
    InitialStateName,
    RecurrentLayer,
    UnidirectionalLayer,
)
from seqlab.cells.base import Cell, State
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError

CellFactory = Callable[[int, int], Cell]
"""(input size, hidden size) -> a new cell."""


class RecurrentStack(nn.Module):
    """Layer n reads layer n-1 at the same step and itself at the step before.

    The real steps are packed once, all layers scan over them, and the result is unpacked. Padding is never
    scanned, and the backward direction starts at each sequence's own last step. The state is a flat tuple of
    (batch, size) tensors: by layer, direction and part.
    """

    def __init__(
        self,
        layers: Sequence[RecurrentLayer],
        *,
        dropout: float = 0.0,
        locked: bool = False,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.dropout = LockedDropout(dropout) if locked else Dropout(dropout)
        self.residual = residual
        self.input_size: int = layers[0].input_size
        self.output_size: int = layers[-1].output_size
        self.state_sizes: tuple[int, ...] = tuple(size for layer in layers for size in layer.state_sizes)

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        is_token: Bool[Tensor, "batch time"],
        state: State | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        self._check_steps(steps)
        packing = Packing.from_mask(is_token)
        if state is not None:
            self._check_state(state, len(steps))
            state = packing.sort(state)
        rows, state = self.scan_packed(packing.pack(steps), packing, state)
        return packing.unpack(rows), tuple(packing.unsort(part) for part in state)

    def scan_packed(
        self, rows: Float[Tensor, "rows hidden"], packing: Packing, state: State | None
    ) -> tuple[Float[Tensor, "rows output"], State]:
        """Like `forward`, for rows that are already packed."""
        last: list[Tensor] = []
        for number, layer in enumerate(self._each_layer()):
            below = rows if number == 0 else self._drop(rows, packing)
            layer_state = None if state is None else state[len(last) : len(last) + len(layer.state_sizes)]
            rows, ended = layer(below, packing, layer_state)
            last.extend(ended)
            if self.residual and rows.shape == below.shape:
                rows = rows + below
        return rows, tuple(last)

    def initial_state(self, num_sequences: int, like: Float[Tensor, "*shape"]) -> State:
        """The default initial state, one row for each sequence."""
        return tuple(
            part for layer in self._each_layer() for part in layer.initial_state(num_sequences, like)
        )

    def _each_layer(self) -> Iterator[RecurrentLayer]:
        """The layers with their type, which a ModuleList does not track."""
        for layer in self.layers:
            assert isinstance(layer, RecurrentLayer)
            yield layer

    def _drop(self, rows: Tensor, packing: Packing) -> Tensor:
        if isinstance(self.dropout, LockedDropout):
            return self.dropout(rows, packing.sequence_of_row, packing.num_sequences)
        return self.dropout(rows)

    def _check_steps(self, steps: Tensor) -> None:
        if steps.shape[2] != self.input_size:
            raise UsageError(
                f"each step has {steps.shape[2]} features, but these layers expect {self.input_size}."
            )
        if steps.shape[1] == 0:
            raise UsageError("the time axis is empty; every sequence needs at least one step.")

    def _check_state(self, state: State, batch: int) -> None:
        shapes = [tuple(part.shape) for part in state]
        expected = [(batch, size) for size in self.state_sizes]
        if shapes != expected:
            raise UsageError(
                f"the state has parts of shape {shapes}, but this batch and these layers need {expected}."
            )


def build_stack(
    input_size: int,
    cell_factory: CellFactory,
    hidden_sizes: Sequence[int],
    *,
    bidirectional: bool = False,
    merge: MergeName = "concat",
    initial_state: InitialStateName = "zeros",
    dropout: float = 0.0,
    locked: bool = False,
    residual: bool = False,
    fast: bool = True,
) -> RecurrentStack:
    """Build a stack of one kind of cell with one width per layer."""

    def one_direction(size: int, hidden_size: int, *, reverse: bool) -> UnidirectionalLayer:
        cell = cell_factory(size, hidden_size)
        return UnidirectionalLayer(
            cell, INITIAL_STATES[initial_state](cell.state_sizes), reverse=reverse, fast=fast
        )

    layers: list[RecurrentLayer] = []
    size = input_size
    for hidden_size in hidden_sizes:
        forward_layer = one_direction(size, hidden_size, reverse=False)
        if bidirectional:
            backward_layer = one_direction(size, hidden_size, reverse=True)
            layers.append(
                BidirectionalLayer(forward_layer, backward_layer, MERGES[merge](forward_layer.output_size))
            )
        else:
            layers.append(forward_layer)
        size = layers[-1].output_size
    return RecurrentStack(layers, dropout=dropout, locked=locked, residual=residual)

"""Unroll a recurrent network: keep every state, gate and projection of every layer, direction and step for
inspection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.blocks.recurrent import RecurrentStack
from seqlab.cells.base import Cell, GatedCell, State
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from seqlab.inspection.layer_directions import (
    Direction,
    LayerDirections,
    Scannable,
    flatten_state,
    read_layers,
)

if TYPE_CHECKING:
    from seqlab.runs.run import Run


@dataclass(frozen=True)
class DirectionTrace:
    """One direction of one layer. Tuples are in time order, independent of the scan direction; each entry is
    (batch, size).

    After the end of a sequence (or before its beginning, in a backward scan) its states do not change.
    """

    layer: int
    reverse: bool
    cell: Cell
    initial: State
    projected: tuple[Tensor, ...]
    hidden: tuple[Tensor, ...]
    memory: tuple[Tensor, ...]
    """Empty for a cell without one."""
    gates: tuple[dict[str, Tensor], ...]
    """Every gate and the candidate, after activation; empty for a cell without gates."""

    @property
    def carry(self) -> tuple[Tensor, ...]:
        """The state on the additive path: the cell state, or the hidden state if there is none."""
        return self.memory or self.hidden

    @property
    def scan_order(self) -> list[int]:
        """Time steps in scan order."""
        times = list(range(len(self.hidden)))
        return times[::-1] if self.reverse else times

    @property
    def last_step(self) -> int:
        """The last time step of the scan."""
        return self.scan_order[-1]

    def previous_hidden(self, time: int) -> Tensor:
        index = self.scan_order.index(time)
        return self.hidden[self.scan_order[index - 1]] if index else self.initial[0]


@dataclass(frozen=True)
class UnrolledNetwork:
    """A network after one reference scan.

    It holds tensors with their autograd graph, so that other inspections can backpropagate through it.
    """

    traces: tuple[DirectionTrace, ...]
    outputs: Float[Tensor, "batch time output"]
    """What the whole network shows; zero in the padding."""
    is_token: Bool[Tensor, "batch time"]

    def trace(self, layer: int = -1, *, reverse: bool = False) -> DirectionTrace:
        """One direction of one layer; -1 is the top layer."""
        numbers = sorted({trace.layer for trace in self.traces})
        number = range(len(numbers))[layer] if -len(numbers) <= layer < len(numbers) else None
        for trace in self.traces:
            if trace.layer == number and trace.reverse == reverse:
                return trace
        directions = sorted({"backward" if trace.reverse else "forward" for trace in self.traces})
        raise UsageError(
            f"there is no {'backward' if reverse else 'forward'} layer {layer}.",
            cure=f"Available layers: 0 to {len(numbers) - 1}, {' and '.join(directions)}.",
        )

    @property
    def lengths(self) -> list[int]:
        return self.is_token.sum(dim=1).tolist()


def require_unrolled(value: object) -> None:
    """Instruments look at what `unroll` has recorded; a run or a layer must be unrolled first."""
    if not isinstance(value, UnrolledNetwork):
        raise UsageError(
            f"expected the result of unroll, got {type(value).__name__}.",
            cure=(
                "Call unroll first: unroll(run, text) for a run, unroll(layer, steps) for a recurrent layer."
            ),
        )


def unroll(
    layer: Scannable | Run,
    steps: Float[Tensor, "batch time input"] | str,
    lengths: Int[Tensor, "batch"] | Sequence[int] | None = None,
    state: State | Tensor | None = None,
) -> UnrolledNetwork:
    """Run the reference scan and keep everything.

    layer: a cell, a RecurrentStack or a layer of one, or torch's RNN, LSTM, GRU or a cell of these. Dropout
    is disabled. steps: batch first, even for a torch layer with batch_first=False. lengths: the number of
    real steps of each sequence; all by default. state: in the format of the layer; its initial state by
    default. A run is unrolled over a text: `unroll(run, "not bad at all")`.
    """
    layer, steps = _recurrent_part(layer, steps)
    with torch.enable_grad():  # even inside no_grad
        return _unroll(layer, read_layers(layer), steps, lengths, flatten_state(layer, state))


def _recurrent_part(layer: Any, steps: Any) -> tuple[Scannable, Tensor]:
    """The layers of a run and the embedded tokens of its text; a layer and its steps stay as they are."""
    from seqlab.inspection.recurrent_part import read_text  # a layer alone needs no run
    from seqlab.runs.run import Run

    if isinstance(layer, Run):
        reading = read_text(layer, steps)
        return reading.stack, reading.steps
    return layer, steps


def _unroll(
    layer: Scannable,
    levels: list[LayerDirections],
    steps: Tensor,
    lengths: Tensor | Sequence[int] | None,
    initial_state: State | None,
) -> UnrolledNetwork:
    _check(levels, steps, initial_state)
    is_token = _is_token(steps, lengths)
    below = steps.masked_fill(
        ~is_token.unsqueeze(-1), 0.0
    )  # values in the padding must not reach a derivative
    traces: list[DirectionTrace] = []
    for number, level in enumerate(levels):
        layer_traces, initial_state = _unroll_layer(level, number, below, is_token, initial_state)
        above = level.merge([torch.stack(trace.hidden, dim=1) for trace in layer_traces])
        is_added = isinstance(layer, RecurrentStack) and layer.residual and above.shape == below.shape
        below = above + below if is_added else above
        traces.extend(layer_traces)
    return UnrolledNetwork(tuple(traces), below * is_token.unsqueeze(-1), is_token)


def _unroll_layer(
    level: LayerDirections, number: int, steps: Tensor, is_token: Tensor, initial_state: State | None
) -> tuple[list[DirectionTrace], State | None]:
    """The traces of one layer, and the remaining states for the layers above."""
    traces = []
    for direction in level.directions:
        num_parts = direction.cell.num_state_tensors
        initial = direction.initial(len(steps), steps) if initial_state is None else initial_state[:num_parts]
        initial_state = None if initial_state is None else initial_state[num_parts:]
        traces.append(_scan(direction, number, steps, is_token, initial))
    return traces, initial_state


def _scan(
    direction: Direction, number: int, steps: Tensor, is_token: Tensor, initial: State
) -> DirectionTrace:
    cell = direction.cell
    initial = state = tuple(_differentiable(part) for part in initial)
    projected = [_differentiable(part) for part in cell.project(steps).unbind(dim=1)]
    is_live = is_token.unsqueeze(-1).unbind(dim=1)  # (batch, 1) each
    times = range(len(projected))
    states: dict[int, State] = {}
    gates: dict[int, dict[str, Tensor]] = {}
    for time in reversed(times) if direction.reverse else times:
        if isinstance(cell, GatedCell):
            gates[time] = cell.gates(projected[time], state)
        _, new = cell.step(projected[time], state)
        if not bool(is_live[time].all()):
            new = tuple(torch.where(is_live[time], part, old) for part, old in zip(new, state, strict=True))
        states[time] = state = new
    hidden, *memory = zip(*[states[time] for time in times], strict=True)
    kept = tuple(gates[time] for time in times if time in gates)
    return DirectionTrace(
        number, direction.reverse, cell, initial, tuple(projected), hidden, memory[0] if memory else (), kept
    )


def _differentiable(part: Tensor) -> Tensor:
    """The tensor itself if it is part of a graph, otherwise a new leaf with the same values (for frozen
    weights or given states).
    """
    return part if part.requires_grad else part.detach().clone().requires_grad_()


def _is_token(steps: Tensor, lengths: Tensor | Sequence[int] | None) -> Tensor:
    batch, time = steps.shape[:2]
    if lengths is None:
        return torch.ones(batch, time, dtype=torch.bool, device=steps.device)
    sequence_lengths = torch.as_tensor(lengths, device=steps.device)
    if sequence_lengths.shape != (batch,):
        raise UsageError(f"got {sequence_lengths.numel()} lengths for {batch} sequences.")
    Packing.from_lengths(sequence_lengths, time=time)  # rejects invalid lengths
    return torch.arange(time, device=steps.device) < sequence_lengths.unsqueeze(1)


def _check(levels: list[LayerDirections], steps: Tensor, state: State | None) -> None:
    """Reject steps of the wrong width and states of the wrong shape with a clear error."""
    width = levels[0].directions[0].cell.input_size
    if steps.dim() != 3 or steps.shape[2] != width or 0 in steps.shape:
        raise UsageError(
            f"the steps have shape {tuple(steps.shape)}; this layer needs (batch, time, {width}) with at"
            " least one step."
        )
    expected = [
        (len(steps), size)
        for level in levels
        for direction in level.directions
        for size in direction.cell.state_sizes
    ]
    if state is not None and [tuple(part.shape) for part in state] != expected:
        raise UsageError(
            f"the state has parts of shape {[tuple(part.shape) for part in state]}, but this batch and"
            f" these layers need {expected}."
        )

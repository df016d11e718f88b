"""Convert states between torch's format, (layers * directions, batch, hidden) for each part, and the
format of a scan, one row per sequence for each cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqlab.cells.base import State
from seqlab.core.errors import UsageError
from seqlab.nn.named_weights import NamedWeights
from seqlab.nn.packed_rows import PackedRows

Part = Tensor | Sequence[Tensor]
"""(layers * directions, batch, hidden); where widths differ, one (directions, batch, hidden) per layer."""
Hidden = Part | tuple[Part, Part]
"""The hidden state, or (hidden, cell_state)."""


class States:
    """The states of one call: the cells determine their sizes, the input determines their batch size."""

    def __init__(self, cells: list[list[NamedWeights]], rows: PackedRows) -> None:
        self._sizes = [layer[0].template.state_sizes for layer in cells]  # by layer, then by part
        self._num_directions = len(cells[0])
        self._num_parts = len(self._sizes[0])
        self._rows = rows

    def split(self, hx: Hidden | None) -> list[list[State]]:
        """By layer and direction, in the order of the rows; zeros by default."""
        if hx is None:
            batch = self._rows.num_sequences
            return [
                [tuple(self._rows.rows.new_zeros(batch, size) for size in sizes)] * self._num_directions
                for sizes in self._sizes
            ]
        parts = self._parts(hx)
        by_part = [self._by_layer(number, part) for number, part in enumerate(parts)]
        return [
            [tuple(part[layer][direction] for part in by_part) for direction in range(self._num_directions)]
            for layer in range(len(self._sizes))
        ]

    def _parts(self, hx: Any) -> list[Part]:
        if self._num_parts == 1:
            return [hx]
        if isinstance(hx, Tensor) or len(hx) != self._num_parts:
            form = "one tensor" if isinstance(hx, Tensor) else f"{len(hx)} parts"
            raise UsageError(
                f"the state is {form}.", cure="Pass (hidden, cell_state), as the layer returns it."
            )
        return list(hx)

    def join(self, last: list[list[State]]) -> Hidden:
        """Back into torch's format and the user's order."""
        parts = tuple(self._joined(number, last) for number in range(self._num_parts))
        return parts[0] if len(parts) == 1 else parts  # type: ignore[return-value]  # one tensor or two, as torch has it

    def _joined(self, number: int, last: list[list[State]]) -> Part:
        layers = [[direction[number] for direction in layer] for layer in last]
        if self._is_even(number):
            return self._leave(torch.stack([part for layer in layers for part in layer]))
        return tuple(self._leave(torch.stack(layer)) for layer in layers)

    def _by_layer(self, number: int, part: Part) -> list[Tensor]:
        """One (directions, batch, size) for each layer, checked and sorted."""
        sizes = [sizes[number] for sizes in self._sizes]
        name = "hidden size" if self._num_parts == 1 else f"hidden[{number}] size"
        if self._is_even(number):
            if not isinstance(part, Tensor):
                raise UsageError(
                    f"the state is a {type(part).__name__}.",
                    cure="Pass one tensor of shape (layers * directions, batch, hidden).",
                )
            entered = self._enter(
                part, (len(sizes) * self._num_directions, self._rows.num_sequences, sizes[0]), name
            )
            return list(entered.split(self._num_directions))
        if isinstance(part, Tensor) or len(part) != len(sizes):
            form = "one tensor" if isinstance(part, Tensor) else f"{len(part)} tensors"
            raise UsageError(
                f"the state is {form}, but the {len(sizes)} layers have different sizes:"
                f" {', '.join(map(str, sizes))}.",
                cure=(
                    "Pass a list with one tensor (directions, batch, width) per layer, as the layer"
                    " returns it."
                ),
            )
        return [
            self._enter(layer, (self._num_directions, self._rows.num_sequences, size), name)
            for layer, size in zip(part, sizes, strict=True)
        ]

    def _enter(self, part: Tensor, expected: tuple[int, int, int], name: str) -> Tensor:
        axes = 3 if self._rows.is_batched else 2
        if part.dim() != axes:
            kind = "batched" if self._rows.is_batched else "unbatched"
            raise RuntimeError(
                f"For {kind} {axes}-D input, hx should also be {axes}-D but got {part.dim()}-D tensor"
            )
        whole = self._rows.sort(part if self._rows.is_batched else part.unsqueeze(1))
        if whole.shape != expected:  # after sorting, like torch: sorted_indices may be wrong, too
            raise RuntimeError(f"Expected {name} {expected}, got {list(whole.shape)}")
        return whole

    def _leave(self, part: Tensor) -> Tensor:
        return self._rows.unsort(part) if self._rows.is_batched else part.squeeze(1)

    def _is_even(self, number: int) -> bool:
        """Whether this part has the same width in all layers."""
        return len({sizes[number] for sizes in self._sizes}) == 1

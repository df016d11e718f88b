"""The layout of packed sequences of different lengths, without padding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd import Function

from seqlab.cells.tracing import is_transformed, reject_jit_trace
from seqlab.core.errors import UsageError


@dataclass(frozen=True)
class StepLayout:
    """One scan over packed rows, forward or backward in time.

    `starts[t]` and `sizes[t]` say where the rows of time step t begin and how many sequences are live there.
    Sequences are sorted by length, longest first, so the live ones are always the first of the batch: a scan
    keeps its state in one buffer and works on its first `live` rows. In a forward scan the others have ended,
    and the buffer keeps their final state; in a backward scan they have not begun, and it still holds their
    initial state.
    """

    starts: tuple[int, ...]
    batch_sizes: tuple[int, ...]
    reverse: bool
    device: torch.device

    @cached_property
    def steps(self) -> list[tuple[int, int, int]]:
        """(begin, end, live) of the rows of every time step, in the order of the scan."""
        steps = [
            (start, start + live, live) for start, live in zip(self.starts, self.batch_sizes, strict=True)
        ]
        return steps[::-1] if self.reverse else steps

    @property
    def is_full(self) -> bool:
        """Whether all sequences have the same length."""
        return self.batch_sizes[-1] == self.batch_sizes[0]

    @property
    def num_sequences(self) -> int:
        return self.batch_sizes[0]

    @property
    def num_rows(self) -> int:
        return self.starts[-1] + self.batch_sizes[-1]

    @property
    def fill_ratio(self) -> float:
        """Share of the real steps in a batch that is padded to the longest sequence."""
        return sum(self.batch_sizes) / (self.num_sequences * len(self.batch_sizes))

    @cached_property
    def lengths(self) -> Int[Tensor, "batch"]:
        return (torch.tensor(self.batch_sizes)[:, None] > torch.arange(self.num_sequences)).sum(dim=0)

    @cached_property
    def padded_rows(self) -> Int[Tensor, "rows"]:
        """For each row its index in a padded batch (time * batch) that holds every sequence in scan order,
        starting at step 0.
        """
        sizes = torch.tensor(self.batch_sizes)
        times = torch.arange(len(sizes)).repeat_interleave(sizes)
        sequences = torch.arange(len(times)) - torch.tensor(self.starts)[times]
        scanned = self.lengths[sequences] - 1 - times if self.reverse else times
        return (scanned * self.num_sequences + sequences).to(self.device)

    @cached_property
    def previous_rows(self) -> Int[Tensor, "rows"]:
        """For each row the preceding row of [initial state; outputs]."""
        starts, sizes = (
            torch.tensor([*self.starts, 0]),
            torch.tensor([*self.batch_sizes, 0]),
        )  # index -1 and T: a step without sequences
        times = torch.arange(len(self.batch_sizes)).repeat_interleave(sizes[:-1])
        sequences = torch.arange(len(times)) - starts[times]
        before = times + (1 if self.reverse else -1)
        has_past = sequences < sizes[before]
        return torch.where(has_past, self.num_sequences + starts[before] + sequences, sequences).to(
            self.device
        )


class Packing:
    """The index of each step of a ragged batch after packing its real steps: all first steps, then all second
    ones, and so on.

    >>> packing = Packing.from_lengths(torch.tensor([1, 3]), time=4)
    >>> packing.batch_sizes, packing.pack(torch.arange(8.0).view(2, 4, 1)).flatten().tolist()
    ((2, 1, 1), [4.0, 0.0, 5.0, 6.0])
    """

    def __init__(
        self, batch_sizes: tuple[int, ...], sorted_indices: Int[Tensor, "batch"] | None, time: int
    ) -> None:
        self.batch_sizes = batch_sizes
        self.sorted_indices = sorted_indices
        """Sequence j of the packing is row order[j] of the batch; None when the batch is sorted already."""
        self.time = time
        self.starts = tuple(_starts(batch_sizes))
        self.num_sequences = batch_sizes[0]
        self._layouts: dict[tuple[bool, torch.device], StepLayout] = {}

    @classmethod
    def from_mask(cls, is_token: Bool[Tensor, "batch time"]) -> Packing:
        batch, time = is_token.shape
        if bool(is_token.all()):
            return cls((batch,) * time, None, time)
        if bool((is_token[:, 1:] & ~is_token[:, :-1]).any()):
            row = int((is_token[:, 1:] & ~is_token[:, :-1]).any(dim=1).nonzero()[0])
            raise UsageError(
                f"row {row} of is_token has real steps after padding.",
                cure="Put the real steps of a sequence first and the padding after them.",
            )
        return cls.from_lengths(is_token.sum(dim=1), time=time)

    @classmethod
    def from_lengths(cls, lengths: Int[Tensor, "batch"], *, time: int) -> Packing:
        reject_jit_trace()
        row_lengths = lengths.tolist()
        for row, length in enumerate(row_lengths):
            if not 1 <= length <= time:
                wrong = "is empty" if length < 1 else f"has {length} steps"
                raise UsageError(
                    f"sequence {row} {wrong}; every length must be from 1 to {time}, the size of the time"
                    " axis."
                )
        ordered = sorted(range(len(row_lengths)), key=lambda row: -row_lengths[row])
        order = (
            None if ordered == list(range(len(row_lengths))) else torch.tensor(ordered, device=lengths.device)
        )
        counts = torch.bincount(torch.tensor(row_lengths), minlength=time + 1)
        live = len(row_lengths) - counts.cumsum(0)[: max(row_lengths)]  # sequences that are longer than t
        return cls(tuple(live.tolist()), order, time)

    def layout(self, *, reverse: bool = False, device: torch.device | None = None) -> StepLayout:
        key = (reverse, torch.device("cpu") if device is None else device)
        if key not in self._layouts:
            self._layouts[key] = StepLayout(self.starts, self.batch_sizes, reverse, key[1])
        return self._layouts[key]

    def pack(self, steps: Float[Tensor, "batch time hidden"]) -> Float[Tensor, "rows hidden"]:
        if self.is_full:
            return self._sorted(steps).transpose(0, 1).reshape(-1, steps.shape[2])
        return gather_rows(steps.reshape(-1, steps.shape[2]), self._row_index.to(steps.device))

    def unpack(self, rows: Float[Tensor, "rows hidden"]) -> Float[Tensor, "batch time hidden"]:
        """Back into a padded batch, with zeros in the padding."""
        if self.is_full:
            return self.unsort(rows.view(self.time, self.num_sequences, -1).transpose(0, 1))
        flat = scatter_rows(rows, self._row_index.to(rows.device), self.num_sequences * self.time)
        return flat.view(self.num_sequences, self.time, rows.shape[1])

    def sort(self, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Reorder tensors with one row per sequence from batch order to packing order."""
        return (
            state
            if self.sorted_indices is None
            else tuple(part[self.sorted_indices.to(part.device)] for part in state)
        )

    def unsort(self, part: Tensor) -> Tensor:
        """Reorder a tensor with one row per sequence back to batch order."""
        return part if self.sorted_indices is None else part[self._unsorted_indices.to(part.device)]

    @cached_property
    def sequence_of_row(self) -> Int[Tensor, "rows"]:
        """For each packed row the number of its sequence in the packing."""
        sizes = torch.tensor(self.batch_sizes)
        return torch.arange(sum(self.batch_sizes)) - torch.tensor(self.starts).repeat_interleave(sizes)

    @property
    def is_full(self) -> bool:
        return len(self.batch_sizes) == self.time and self.batch_sizes[-1] == self.batch_sizes[0]

    def _sorted(self, steps: Tensor) -> Tensor:
        return steps if self.sorted_indices is None else steps[self.sorted_indices.to(steps.device)]

    @cached_property
    def _unsorted_indices(self) -> Tensor:
        assert self.sorted_indices is not None
        return torch.argsort(self.sorted_indices)

    @cached_property
    def _times(self) -> Tensor:
        return torch.arange(len(self.batch_sizes)).repeat_interleave(torch.tensor(self.batch_sizes))

    @cached_property
    def _row_index(self) -> Tensor:
        """For each packed row its index in the flattened batch (batch * time)."""
        sequences = self.sequence_of_row
        batch_rows = sequences if self.sorted_indices is None else self.sorted_indices.cpu()[sequences]
        return batch_rows * self.time + self._times


def gather_rows(
    rows: Float[Tensor, "rows hidden"], row_index: Int[Tensor, "selected"]
) -> Float[Tensor, "selected hidden"]:
    """Select rows, each at most once."""
    return (
        rows.index_select(0, row_index) if is_transformed() else apply_function(_GatherRows, rows, row_index)
    )


def scatter_rows(
    rows: Float[Tensor, "rows hidden"], row_index: Int[Tensor, "rows"], num_rows: int
) -> Float[Tensor, "scattered hidden"]:
    """Scatter rows to their indices, zeros elsewhere."""
    return rows.new_zeros(num_rows, rows.shape[1]).index_copy(0, row_index, rows)


class _GatherRows(torch.autograd.Function):
    """The backward pass copies the gradient, which is several times faster than adding it."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, row_index: Tensor) -> Tensor:
        ctx.row_index, ctx.num_rows = row_index, rows.shape[0]
        return rows.index_select(0, row_index)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return scatter_rows(gradient, ctx.row_index, ctx.num_rows), None


def _starts(batch_sizes: tuple[int, ...]) -> list[int]:
    starts, total = [], 0
    for size in batch_sizes:
        starts.append(total)
        total += size
    return starts


def apply_function(function: type[Function], *args: Any) -> Any:
    """`function.apply(*args)`, which torch leaves untyped."""
    return function.apply(*args)

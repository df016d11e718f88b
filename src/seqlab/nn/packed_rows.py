"""Convert torch's three input formats to packed rows: a batch, a single sequence, a PackedSequence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from seqlab.cells.step_layout import Packing
from seqlab.cells.tracing import reject_jit_trace


def live_of(packed: PackedSequence) -> tuple[int, ...]:
    """The number of live sequences at each step.

    A PackedSequence built by hand may be inconsistent; errors have the types that torch raises.
    """
    reject_jit_trace()
    sizes = packed.batch_sizes
    if sizes.dim() > 1 or sizes.is_floating_point() or sizes.is_complex():
        raise TypeError(
            f"batch_sizes must be a 1-D tensor of integers, got {sizes.dtype} with {sizes.dim()} dimensions"
        )
    if sizes.dtype != torch.int64:
        raise RuntimeError(f"batch_sizes must be of type torch.int64, got {sizes.dtype}")
    if sizes.dim() == 0 or len(sizes) == 0:
        raise IndexError("batch_sizes is empty; a PackedSequence needs at least one step")
    batch_sizes = tuple(sizes.tolist())
    if batch_sizes[-1] < 0 or any(after > before for before, after in pairwise(batch_sizes)):
        raise RuntimeError(f"batch_sizes must be non-increasing and non-negative, got {list(batch_sizes)}")
    if packed.data.dim() == 2 and len(packed.data) != sum(batch_sizes):
        raise RuntimeError(
            f"batch_sizes add up to {sum(batch_sizes)} steps, but the packed data has {len(packed.data)} rows"
        )
    return batch_sizes


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The packed steps of an input, and what is needed to return the output in the format of the input."""

    rows: Tensor
    """(rows, input): all first steps, then all second ones."""
    original_input: Tensor
    """The tensor for torch's own checks: (rows, input) of a PackedSequence, otherwise a batch with three
    axes.
    """
    packing: Packing
    batch_first: bool = False
    is_batched: bool = True
    packed: PackedSequence | None = None

    @classmethod
    def from_input(cls, inputs: Tensor | PackedSequence, *, batch_first: bool, where: str) -> PackedRows:
        if isinstance(inputs, PackedSequence):
            sizes = live_of(inputs)
            return cls(inputs.data, inputs.data, Packing(sizes, None, len(sizes)), packed=inputs)
        if inputs.dim() not in (2, 3):
            raise ValueError(f"{where}: Expected input to be 2D or 3D, got {inputs.dim()}D tensor instead")
        is_batched = inputs.dim() == 3
        steps = inputs if is_batched else inputs.unsqueeze(1)
        batch_first = batch_first and is_batched
        time_first = steps.transpose(0, 1) if batch_first else steps  # (time, batch, input)
        time, batch = time_first.shape[:2]
        if time == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        return cls(
            time_first.reshape(time * batch, inputs.shape[-1]),
            steps,
            Packing((batch,) * time, None, time),
            batch_first,
            is_batched,
        )

    @property
    def batch_sizes(self) -> Tensor | None:
        return None if self.packed is None else self.packed.batch_sizes

    @property
    def num_sequences(self) -> int:
        return self.packing.num_sequences

    def to_output(self, rows: Float[Tensor, "rows output"]) -> Tensor | PackedSequence:
        """The output of every step, in the format of the input."""
        if self.packed is not None:
            return PackedSequence(
                rows, self.packed.batch_sizes, self.packed.sorted_indices, self.packed.unsorted_indices
            )
        steps = rows.view(self.packing.time, self.num_sequences, rows.shape[1])  # (time, batch, output)
        if not self.is_batched:
            return steps.squeeze(1)
        return steps.transpose(0, 1) if self.batch_first else steps

    def sort(
        self, part: Float[Tensor, "directions batch hidden"]
    ) -> Float[Tensor, "directions sorted hidden"]:
        """Reorder a state from the user's batch order to the order of the rows."""
        order = None if self.packed is None else self.packed.sorted_indices
        return part if order is None else part.index_select(1, order)

    def unsort(
        self, part: Float[Tensor, "directions batch hidden"]
    ) -> Float[Tensor, "directions batch hidden"]:
        order = None if self.packed is None else self.packed.unsorted_indices
        return part if order is None else part.index_select(1, order)

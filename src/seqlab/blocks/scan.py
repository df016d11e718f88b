"""Scan a cell through time, over real steps only."""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.blocks.higher_order import with_higher_orders
from seqlab.cells.base import Cell, State
from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.step_layout import StepLayout
from seqlab.cells.tracing import is_captured, is_tracing, is_transformed
from seqlab.core.errors import UsageError


def scan(
    cell: Cell, rows: Float[Tensor, "rows input"], state: State, layout: StepLayout, *, fast: bool = True
) -> tuple[Float[Tensor, "rows hidden"], State]:
    """The hidden state after every packed row, and each sequence's own last state.

    Both scans give the same numbers and derivatives of any order. The reference scan is the one that torch can
    record and transform.
    """
    if not is_tracing():
        _check(rows, state, layout)
    return checked_scan(cell, rows, state, layout, fast=fast)


def checked_scan(
    cell: Cell, rows: Float[Tensor, "rows input"], state: State, layout: StepLayout, *, fast: bool
) -> tuple[Float[Tensor, "rows hidden"], State]:
    """`scan` for inputs that have been checked.

    Only this function enables fast kernels, and never while torch records or transforms, or under autocast:
    a hand-written scan supports a single dtype.
    """
    resolved = cell.materialize_weights()
    is_cast = torch.is_autocast_enabled(rows.device.type)
    allow_kernels = fast and not (is_cast or is_captured() or is_transformed())
    result = fast_scan(resolved, rows, state, layout) if allow_kernels else None
    if result is None:
        return reference_scan(resolved, rows, state, layout)
    return _differentiable(result, resolved, rows, state, layout) if torch.is_grad_enabled() else result


def _differentiable(
    result: tuple[Tensor, State], cell: Cell, rows: Tensor, state: State, layout: StepLayout
) -> tuple[Tensor, State]:
    """The result of a kernel, with the reference scan for derivatives that a kernel does not have."""
    names = list(cell._parameters)  # noqa: SLF001 - also those that are computed, and None

    def reference(rows: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        weights = dict(zip(names, rest[len(state) :], strict=True))
        outputs, last = reference_scan(cell.with_weights(weights), rows, rest[: len(state)], layout)
        return outputs, *last

    inputs = (rows, *state, *cell._parameters.values())  # noqa: SLF001
    outputs, *last = with_higher_orders((result[0], *result[1]), inputs, reference)
    return outputs, tuple(last)


def _check(rows: Tensor, state: State, layout: StepLayout) -> None:
    """Hand-written scans leave surplus rows uninitialized and surplus states unchanged; wrong widths raise
    errors by themselves.
    """
    lengths, expected = (
        [rows.shape[0], state[0].shape[0], state[-1].shape[0]],
        [layout.num_rows, layout.num_sequences, layout.num_sequences],
    )
    if lengths != expected:
        raise UsageError(
            f"rows, first and last part of the state have lengths {lengths}; the packing needs {expected}."
        )


def reference_scan(
    cell: Cell, rows: Float[Tensor, "rows input"], state: State, layout: StepLayout
) -> tuple[Float[Tensor, "rows hidden"], State]:
    """The reference scan: step by step, with autograd."""
    projected = cell.project(rows).split(
        layout.batch_sizes
    )  # one view per step: indexing would allocate a full gradient each time
    return (
        _scan_backward(cell, projected, state, layout.batch_sizes)
        if layout.reverse
        else _scan_forward(cell, projected, state, layout.batch_sizes)
    )


def _scan_forward(
    cell: Cell, projected: tuple[Tensor, ...], state: State, sizes: tuple[int, ...]
) -> tuple[Tensor, State]:
    """Sequences leave the batch as they end."""
    outputs, ended = [], []
    for piece, (live, next_live) in zip(projected, pairwise([*sizes, 0]), strict=True):
        hidden, state = cell.step(piece, state)
        outputs.append(hidden)
        if next_live < live:
            ended.append(tuple(part[next_live:] for part in state))
            state = tuple(part[:next_live] for part in state)
    return torch.cat(outputs), tuple(torch.cat(parts) for parts in zip(*reversed(ended), strict=True))


def _scan_backward(
    cell: Cell, projected: tuple[Tensor, ...], initial: State, sizes: tuple[int, ...]
) -> tuple[Tensor, State]:
    """Each sequence joins at its own last step."""
    outputs: list[Tensor] = []
    state = tuple(part[:0] for part in initial)
    for piece, live in zip(reversed(projected), reversed(sizes), strict=True):
        present = len(state[0])
        if present < live:
            state = tuple(
                torch.cat([part, whole[present:live]]) for part, whole in zip(state, initial, strict=True)
            )
        hidden, state = cell.step(piece, state)
        outputs.append(hidden)
    return torch.cat(outputs[::-1]), state

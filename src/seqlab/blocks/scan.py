"""A cell walked through time, over real steps only."""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.base import Cell, State
from seqlab.cells.step_layout import Path


def walk(cell: Cell, rows: Float[Tensor, "rows input"], state: State, path: Path, *, fast: bool = True) -> tuple[Float[Tensor, "rows hidden"], State]:
    """The hidden state after every packed row, and each sequence's own last state. Both ways give the same numbers; the plain one
    can be differentiated any number of times."""
    resolved = cell.resolved()
    found = resolved.fast_walk(rows, state, path) if fast else None
    return plain_walk(resolved, rows, state, path) if found is None else found


def plain_walk(cell: Cell, rows: Float[Tensor, "rows input"], state: State, path: Path) -> tuple[Float[Tensor, "rows hidden"], State]:
    """Step by step, as the equations say; autograd keeps the books."""
    projected = cell.project(rows).split(path.sizes)  # one view per step: indexing would cost a full gradient each
    return _backwards(cell, projected, state, path.sizes) if path.reverse else _forwards(cell, projected, state, path.sizes)


def _forwards(cell: Cell, projected: tuple[Tensor, ...], state: State, sizes: tuple[int, ...]) -> tuple[Tensor, State]:
    """Sequences leave the batch as they end."""
    outputs, ended = [], []
    for piece, (live, next_live) in zip(projected, pairwise([*sizes, 0]), strict=True):
        hidden, state = cell.step(piece, state)
        outputs.append(hidden)
        if next_live < live:
            ended.append(tuple(part[next_live:] for part in state))
            state = tuple(part[:next_live] for part in state)
    return torch.cat(outputs), tuple(torch.cat(parts) for parts in zip(*reversed(ended), strict=True))


def _backwards(cell: Cell, projected: tuple[Tensor, ...], initial: State, sizes: tuple[int, ...]) -> tuple[Tensor, State]:
    """Each sequence joins at its own last step."""
    outputs: list[Tensor] = []
    state = tuple(part[:0] for part in initial)
    for piece, live in zip(reversed(projected), reversed(sizes), strict=True):
        present = len(state[0])
        if present < live:
            state = tuple(torch.cat([part, whole[present:live]]) for part, whole in zip(state, initial, strict=True))
        hidden, state = cell.step(piece, state)
        outputs.append(hidden)
    return torch.cat(outputs[::-1]), state

"""A cell's fast scan beside its plain one: outputs, last states and every gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell, State
from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.step_layout import Packing

RAGGED = [3, 7, 1, 5, 7]
"""Lengths that are not sorted, with a tie and a sequence of one step."""
FULL = [4, 4, 4]


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def with_drawn_weights(cell: Cell, seed: int = 3) -> Cell:
    """In double precision, with weights large enough to bend every gate."""
    cell = cell.double()
    for place, parameter in enumerate(cell.parameters()):
        parameter.data = 0.7 * drawn(*parameter.shape, seed=seed + place)
    return cell


def scanned(
    cell: Cell, lengths: list[int], *, reverse: bool, fast: bool
) -> tuple[Tensor, State, list[Tensor]]:
    """Outputs (packed), last state, and the gradients of input, first state and every parameter."""
    packing = Packing.from_lengths(torch.tensor(lengths), time=max(lengths))
    steps = drawn(len(lengths), max(lengths), cell.input_size, seed=1).requires_grad_()
    first = [drawn(len(lengths), size, seed=2).requires_grad_() for size in cell.state_sizes]
    outputs, last = scan(cell, packing.pack(steps), tuple(first), packing.layout(reverse=reverse), fast=fast)
    score = (outputs * drawn(*outputs.shape, seed=5)).sum() + sum(
        (part * drawn(*part.shape, seed=6)).sum() for part in last
    )
    return outputs, last, list(torch.autograd.grad(score, [steps, *first, *cell.parameters()]))


def assert_fast_equals_plain(cell: Cell) -> None:
    cell = with_drawn_weights(cell)
    for lengths in (RAGGED, FULL, [1]):
        for reverse in (False, True):
            fast, plain = (scanned(cell, lengths, reverse=reverse, fast=fast) for fast in (True, False))
            torch.testing.assert_close(fast, plain, rtol=0, atol=1e-11)


def assert_gradients_are_right(cell: Cell) -> None:
    """By finite differences: one step, and the fast scan over ragged lengths."""
    cell = with_drawn_weights(cell)
    names = [name for name, _ in cell.named_parameters()]
    layout = Packing.from_lengths(torch.tensor([3, 1]), time=3).layout()
    weights = [parameter.detach().clone().requires_grad_() for parameter in cell.parameters()]

    def one_step(inputs: Tensor, hidden: Tensor, *weights: Tensor) -> Tensor:
        other = cell.with_weights(dict(zip(names, weights, strict=True)))
        return other.step(other.project(inputs), (hidden,))[0]

    def whole_scan(rows: Tensor, hidden: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        found = fast_scan(cell.with_weights(dict(zip(names, weights, strict=True))), rows, (hidden,), layout)
        assert found is not None
        return found[0], *found[1]

    hidden = drawn(2, cell.hidden_size, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(one_step, (drawn(2, cell.input_size).requires_grad_(), hidden, *weights))
    assert torch.autograd.gradcheck(
        whole_scan, (drawn(4, cell.input_size).requires_grad_(), hidden, *weights)
    )

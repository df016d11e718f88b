"""Any cell through time: step by step, over real steps only, forwards and backwards."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.blocks.scan import reference_scan, scan
from seqlab.cells.base import Cell, State, cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.cells.step_layout import Packing
from tests.blocks.stacks_to_try import IN, LENGTHS, ragged


def cell_of(name: str) -> Cell:
    torch.manual_seed(3)
    return cells.get(name)(IN, 70 if name == "projected_lstm" else 5).double()


def by_hand(cell: Cell, sequence: Tensor, start: State, *, reverse: bool) -> tuple[Tensor, State]:
    """The cell stepped over one sequence (time, in), word by word."""
    outputs: list[Tensor] = []
    state = tuple(part.unsqueeze(0) for part in start)
    for step in reversed(sequence) if reverse else sequence:
        hidden, state = cell(step.unsqueeze(0), state)
        outputs.append(hidden[0])
    return torch.stack(outputs[::-1] if reverse else outputs), tuple(part[0] for part in state)


@pytest.mark.spec(20)
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("name", CELL_KINDS)
def test_a_batch_gives_what_a_cell_gives_that_is_stepped_word_by_word_with_its_state(
    name: str, reverse: bool, fast: bool
) -> None:
    cell = cell_of(name)
    steps, is_token = ragged()
    packing = Packing.from_mask(is_token)
    start = tuple(torch.randn(len(LENGTHS), size, dtype=torch.float64) for size in cell.state_sizes)
    rows, last = scan(
        cell, packing.pack(steps), packing.sort(start), packing.layout(reverse=reverse), fast=fast
    )
    outputs = packing.unpack(rows)
    for row, length in enumerate(LENGTHS):
        expected, expected_last = by_hand(
            cell, steps[row, :length], tuple(part[row] for part in start), reverse=reverse
        )
        torch.testing.assert_close(outputs[row, :length], expected, rtol=1e-10, atol=1e-10)
        for part, expected_part in zip(last, expected_last, strict=True):
            torch.testing.assert_close(packing.unsort(part)[row], expected_part, rtol=1e-10, atol=1e-10)


class Counting(Cell):
    """hidden' = hidden + 1, and remembers how many sequences each step was asked for."""

    num_gates = 1

    def step(self, projected: Tensor, state: State) -> tuple[Tensor, State]:
        self.asked = [*getattr(self, "asked", []), len(projected)]
        hidden = state[0] + 1
        return hidden, (hidden,)


@pytest.mark.parametrize("reverse", [True, False])
def test_no_padding_is_ever_scanned(reverse: bool) -> None:
    cell = Counting(IN, 2).double()
    steps, is_token = ragged()  # lengths 3, 7, 1, 5
    packing = Packing.from_mask(is_token)
    _, (counts,) = reference_scan(
        cell, packing.pack(steps), (torch.zeros(4, 2, dtype=torch.float64),), packing.layout(reverse=reverse)
    )
    live = [4, 3, 3, 2, 2, 1, 1]
    assert cell.asked == (live[::-1] if reverse else live)
    assert packing.unsort(counts)[:, 0].tolist() == [3, 7, 1, 5]

"""Ragged batches without their padding: the way there and back, and every step's past."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError

some_lengths = st.lists(st.integers(1, 7), min_size=1, max_size=6)


def batch_of(lengths: list[int], time: int, hidden: int = 2) -> Tensor:
    """(batch, time, hidden); the number at sequence s and step t is 100 s + t, and something else in the
    padding.
    """
    steps = torch.arange(len(lengths))[:, None] * 100.0 + torch.arange(time)
    real = torch.arange(time) < torch.tensor(lengths)[:, None]
    return steps.masked_fill(~real, -1.0).unsqueeze(-1).repeat(1, 1, hidden)


def packed_by_hand(lengths: list[int]) -> list[tuple[int, int]]:
    """(sequence, step) of every packed row: step by step, longer sequences first, equally long ones in the
    order of the batch.
    """
    order = sorted(range(len(lengths)), key=lambda s: -lengths[s])
    return [(s, t) for t in range(max(lengths)) for s in order if lengths[s] > t]


@pytest.mark.slow
@given(some_lengths, st.integers(0, 3))
def test_packing_keeps_the_real_steps_in_the_order_of_time(lengths: list[int], padding: int) -> None:
    time = max(lengths) + padding
    packing = Packing.from_lengths(torch.tensor(lengths), time=time)
    rows = packing.pack(batch_of(lengths, time))
    assert rows[:, 0].tolist() == [100.0 * s + t for s, t in packed_by_hand(lengths)]
    assert list(packing.batch_sizes) == [sum(length > t for length in lengths) for t in range(max(lengths))]
    assert packing.num_sequences == len(lengths)


@given(some_lengths, st.integers(0, 3))
def test_unpacking_brings_every_step_back_and_zeros_into_the_padding(
    lengths: list[int], padding: int
) -> None:
    time = max(lengths) + padding
    packing = Packing.from_lengths(torch.tensor(lengths), time=time)
    steps = batch_of(lengths, time)
    back = packing.unpack(packing.pack(steps))
    is_token = torch.arange(time) < torch.tensor(lengths)[:, None]
    assert torch.equal(back, steps.masked_fill(~is_token.unsqueeze(-1), 0.0))


@given(some_lengths)
def test_a_mask_and_its_lengths_give_the_same_packing(lengths: list[int]) -> None:
    time = max(lengths)
    is_token = torch.arange(time) < torch.tensor(lengths)[:, None]
    by_mask, by_lengths = Packing.from_mask(is_token), Packing.from_lengths(torch.tensor(lengths), time=time)
    steps = batch_of(lengths, time)
    assert by_mask.batch_sizes == by_lengths.batch_sizes
    assert torch.equal(by_mask.pack(steps), by_lengths.pack(steps))


@given(some_lengths, st.booleans())
def test_the_steps_of_a_path_and_the_past_of_every_row_are_right(lengths: list[int], reverse: bool) -> None:
    packing = Packing.from_lengths(torch.tensor(lengths), time=max(lengths))
    layout = packing.layout(reverse=reverse)
    rows = packed_by_hand(lengths)
    order = [s for s, t in rows if t == 0]
    scanned: list[tuple[int, int]] = []
    for begin, end, live in layout.steps:
        assert end - begin == live
        assert [s for s, _ in rows[begin:end]] == order[:live], "the live sequences are the first ones"
        scanned += rows[begin:end]
    assert [t for _, t in scanned] == sorted([t for _, t in rows], reverse=reverse)
    for row, (s, t) in enumerate(rows):
        past = (s, t + 1 if reverse else t - 1)
        expected = len(lengths) + rows.index(past) if past in rows else order.index(s)
        assert layout.previous_rows[row].item() == expected
    assert layout.is_full == (len(set(lengths)) == 1)
    assert layout is packing.layout(reverse=reverse)


@given(some_lengths)
def test_a_state_is_sorted_and_restored(lengths: list[int]) -> None:
    packing = Packing.from_lengths(torch.tensor(lengths), time=max(lengths))
    numbers = torch.arange(len(lengths), dtype=torch.float64).unsqueeze(1)
    hidden, memory = packing.sort((numbers, numbers * 10))
    assert hidden.flatten().tolist() == [s for s, t in packed_by_hand(lengths) if t == 0]
    assert torch.equal(memory, hidden * 10)
    assert torch.equal(packing.unsort(hidden), numbers)
    assert packing.sequence_of_row.tolist() == [
        hidden.flatten().tolist().index(s) for s, _ in packed_by_hand(lengths)
    ]


@pytest.mark.parametrize("lengths", [[3, 1, 4], [4, 4], [5, 2]], ids=str)
def test_the_gradient_of_packing_and_of_unpacking_is_right_to_the_second_order(lengths: list[int]) -> None:
    packing = Packing.from_lengths(torch.tensor(lengths), time=5)
    steps = torch.randn(len(lengths), 5, 2, dtype=torch.float64, requires_grad=True)
    rows = torch.randn(sum(lengths), 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(packing.pack, steps)
    assert torch.autograd.gradcheck(packing.unpack, rows)
    assert torch.autograd.gradgradcheck(lambda x: packing.pack(x).square(), steps)
    assert torch.autograd.gradgradcheck(lambda x: packing.unpack(x).square(), rows)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ([2, 0, 3], "sequence 1 is empty; every length must be from 1 to 3, the size of the time axis"),
        ([2, 4], "sequence 1 has 4 steps; every length must be from 1 to 3"),
        ([-1], "sequence 0 is empty"),
    ],
)
def test_lengths_that_cannot_be_are_refused(lengths: list[int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Packing.from_lengths(torch.tensor(lengths), time=3)


def test_a_mask_with_a_hole_or_an_empty_row_is_refused() -> None:
    with pytest.raises(UsageError, match="row 1 of is_token has real steps after padding"):
        Packing.from_mask(torch.tensor([[True, True, False], [True, False, True]]))
    with pytest.raises(UsageError, match="sequence 0 is empty"):
        Packing.from_mask(torch.tensor([[False, False], [True, False]]))

"""Sequences side by side: nothing lost, nothing invented."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqlab.batches.batch import Batch, pad

IDS = st.lists(st.lists(st.integers(0, 60_000), min_size=0, max_size=7), min_size=1, max_size=6)


@given(IDS, st.integers(0, 9), st.integers(0, 3))
def test_the_mask_gives_back_every_sequence_and_all_else_is_filling(
    sequences: list[list[int]], to_length: int, value: int
) -> None:
    padded, is_token = pad([np.array(row, np.uint16) for row in sequences], value=value, to_length=to_length)
    assert padded.dtype == torch.int64
    assert (
        padded.shape
        == is_token.shape
        == (len(sequences), max(to_length, *(len(row) for row in sequences), 0))
    )
    assert [row[real].tolist() for row, real in zip(padded, is_token, strict=True)] == sequences
    assert (padded[~is_token] == value).all()
    assert is_token.sum(dim=1).tolist() == [len(row) for row in sequences]
    assert all(
        row.tolist() == sorted(row.tolist(), reverse=True) for row in is_token
    )  # padding stands at the end


def test_steps_of_numbers_are_padded_with_zeros() -> None:
    long, short = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([[9.5, 8.5]], np.float32)
    padded, is_token = pad([short, long])
    assert padded.dtype == torch.float32
    assert padded.tolist() == [[[9.5, 8.5], [0, 0], [0, 0]], [[0, 1], [2, 3], [4, 5]]]
    assert is_token.tolist() == [[True, False, False], [True, True, True]]


def test_padding_copies_so_that_a_batch_may_be_changed() -> None:
    row = np.array([1, 2, 3])
    padded, _ = pad([row])
    padded[0, 0] = 7
    assert row.tolist() == [1, 2, 3]


def test_lengths_are_the_numbers_of_real_steps_and_moving_keeps_everything() -> None:
    inputs, is_token = pad([np.array([1, 2, 3]), np.array([4])])
    batch = Batch(
        inputs,
        is_token,
        {"label": torch.tensor([0, 1]), "future": torch.tensor([[0.5], [2.5]])},
        torch.tensor([5, 2]),
        continues=True,
    )
    assert batch.lengths.tolist() == [3, 1]
    moved = batch.to(torch.device("cpu"))
    assert (moved.inputs.tolist(), moved.rows.tolist(), moved.continues) == (
        [[1, 2, 3], [4, 0, 0]],
        [5, 2],
        True,
    )
    assert (moved["label"].tolist(), moved["future"].tolist(), list(moved.targets)) == (
        [0, 1],
        [[0.5], [2.5]],
        ["label", "future"],
    )


def test_all_parts_of_a_batch_are_moved() -> None:
    inputs, is_token = pad([np.array([1, 2, 3]), np.array([4])])
    batch = Batch(
        inputs,
        is_token,
        {"label": torch.tensor([0, 1]), "future": torch.tensor([[0.5], [2.5]])},
        torch.tensor([5, 2]),
    )
    moved = batch.to(torch.device("meta"))
    tensors = [moved.inputs, moved.is_token, moved["label"], moved["future"], moved.rows]
    assert [tensor.device.type for tensor in tensors] == ["meta"] * 5


def test_a_target_that_a_batch_does_not_have_is_named_beside_those_it_has() -> None:
    inputs, is_token = pad([np.array([1])])
    batch = Batch(
        inputs, is_token, {"label": torch.tensor([0]), "future": torch.tensor([0.5])}, torch.tensor([5])
    )
    with pytest.raises(KeyError, match=r"labels.*label, future"):
        batch["labels"]


@pytest.mark.parametrize("target", [torch.tensor([0, 1, 2]), torch.tensor([[1, 2], [3, 4], [5, 6]])])
def test_targets_that_do_not_fit_the_batch_are_refused(target: torch.Tensor) -> None:
    inputs, is_token = pad([np.array([1, 2, 3]), np.array([4])])
    with pytest.raises(ValueError, match=r"2 rows.*'tags' has 3"):
        Batch(inputs, is_token, {"label": torch.tensor([0, 1]), "tags": target}, torch.tensor([0, 1]))

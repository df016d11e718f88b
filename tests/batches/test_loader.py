"""A stream of batches whose place can be written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import (
    BPTTSampler,
    BucketSampler,
    Indices,
    LengthOrderSampler,
    RandomWindowSampler,
    Sampler,
    ShuffledSampler,
)

LENGTHS = np.array([5, 1, 9, 2, 2, 8, 7, 4, 4, 6, 3], np.int64)
KINDS = ["shuffled", "buckets", "lanes", "windows"]


def sampler_of(kind: str) -> Sampler:
    """A new sampler, as a new process would make it."""
    stream: dict[str, Any] = {"batch_size": 3, "window": 5, "seed": 8}
    return {
        "shuffled": lambda: ShuffledSampler(11, batch_size=3, seed=8),
        "buckets": lambda: BucketSampler(LENGTHS, batch_size=3, seed=8),
        "lanes": lambda: BPTTSampler(100, **stream),
        "windows": lambda: RandomWindowSampler(100, **stream),
    }[kind]()


def collate(rows: Indices, is_first: bool) -> Batch:
    inputs = torch.from_numpy(rows)[:, None]
    return Batch(inputs, torch.ones_like(inputs, dtype=torch.bool), {}, inputs[:, 0], continues=not is_first)


def take(loader: Loader, count: int) -> list[tuple[list[int], bool]]:
    return [(batch.rows.tolist(), batch.continues) for batch in (loader.take() for _ in range(count))]


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 30), st.integers(1, 15))
def test_going_on_from_a_position_equals_never_having_stopped(kind: str, before: int, after: int) -> None:
    unbroken = take(Loader(sampler_of(kind), collate), before + after)
    stopped = Loader(sampler_of(kind), collate)
    take(stopped, before)
    cursor = Cursor(stopped.cursor.epoch, stopped.cursor.batch)  # as a checkpoint keeps it
    assert take(Loader(sampler_of(kind), collate, cursor=cursor), after) == unbroken[before:]


@pytest.mark.parametrize("kind", KINDS)
def test_epochs_follow_each_other_and_only_their_first_batch_starts_anew(kind: str) -> None:
    sampler = sampler_of(kind)
    loader = Loader(sampler_of(kind), collate)
    for epoch in range(3):
        for number in range(sampler.batches_in(epoch)):
            assert loader.cursor == Cursor(epoch, number)
            batch = loader.take()
            assert batch.rows.tolist() == sampler.batch(epoch, number).tolist()
            assert batch.continues == (number > 0)


def test_a_batch_that_fails_is_not_skipped() -> None:
    def fail(rows: Indices, is_first: bool) -> Batch:
        raise RuntimeError

    loader = Loader(sampler_of("shuffled"), fail)
    with pytest.raises(RuntimeError):
        loader.take()
    assert loader.cursor == Cursor()


def test_one_pass_reads_every_example_once() -> None:
    seen = [
        row
        for batch in one_pass(LengthOrderSampler(LENGTHS, batch_size=4), collate)
        for row in batch.rows.tolist()
    ]
    assert sorted(seen) == list(range(11))

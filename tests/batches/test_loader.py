"""A stream of batches whose place can be written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Feed, Position, one_pass
from seqlab.batches.samplers import (
    BucketPlan,
    Indices,
    LanePlan,
    LengthOrderPlan,
    Plan,
    RandomWindowPlan,
    ShuffledPlan,
)

LENGTHS = np.array([5, 1, 9, 2, 2, 8, 7, 4, 4, 6, 3], np.int64)
KINDS = ["shuffled", "buckets", "lanes", "windows"]


def plan_of(kind: str) -> Plan:
    """A new plan, as a new process would make it."""
    stream: dict[str, Any] = {"batch_size": 3, "window": 5, "seed": 8}
    return {
        "shuffled": lambda: ShuffledPlan(11, batch_size=3, seed=8),
        "buckets": lambda: BucketPlan(LENGTHS, batch_size=3, seed=8),
        "lanes": lambda: LanePlan(100, **stream),
        "windows": lambda: RandomWindowPlan(100, **stream),
    }[kind]()


def collate(rows: Indices, is_first: bool) -> Batch:
    inputs = torch.from_numpy(rows)[:, None]
    return Batch(inputs, torch.ones_like(inputs, dtype=torch.bool), {}, inputs[:, 0], continues=not is_first)


def take(feed: Feed, count: int) -> list[tuple[list[int], bool]]:
    return [(batch.rows.tolist(), batch.continues) for batch in (feed.take() for _ in range(count))]


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 30), st.integers(1, 15))
def test_going_on_from_a_position_equals_never_having_stopped(kind: str, before: int, after: int) -> None:
    unbroken = take(Feed(plan_of(kind), collate), before + after)
    stopped = Feed(plan_of(kind), collate)
    take(stopped, before)
    position = Position(stopped.position.epoch, stopped.position.batch)  # as a checkpoint keeps it
    assert take(Feed(plan_of(kind), collate, position=position), after) == unbroken[before:]


@pytest.mark.parametrize("kind", KINDS)
def test_epochs_follow_each_other_and_only_their_first_batch_starts_anew(kind: str) -> None:
    plan = plan_of(kind)
    feed = Feed(plan_of(kind), collate)
    for epoch in range(3):
        for number in range(plan.batches_in(epoch)):
            assert feed.position == Position(epoch, number)
            batch = feed.take()
            assert batch.rows.tolist() == plan.batch(epoch, number).tolist()
            assert batch.continues == (number > 0)


def test_a_batch_that_fails_is_not_skipped() -> None:
    def fail(rows: Indices, is_first: bool) -> Batch:
        raise RuntimeError

    feed = Feed(plan_of("shuffled"), fail)
    with pytest.raises(RuntimeError):
        feed.take()
    assert feed.position == Position()


def test_one_pass_reads_every_example_once() -> None:
    seen = [
        row
        for batch in one_pass(LengthOrderPlan(LENGTHS, batch_size=4), collate)
        for row in batch.rows.tolist()
    ]
    assert sorted(seen) == list(range(11))

"""Which examples stand together: everything once, little padding, the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.batches.samplers import (
    BPTTSampler,
    BucketSampler,
    LengthOrderSampler,
    RandomWindowSampler,
    Sampler,
    ShuffledSampler,
    TokenBucketSampler,
)

LENGTHS = np.array(np.random.default_rng(4).gamma(2.0, 60.0, 3000) + 1, np.int64)


def batches(sampler: Sampler, epoch: int) -> list[list[int]]:
    return [sampler.batch(epoch, number).tolist() for number in range(sampler.batches_in(epoch))]


def plans(lengths: list[int], batch_size: int, seed: int) -> list[Sampler]:
    sizes = np.array(lengths, np.int64)
    return [
        ShuffledSampler(len(sizes), batch_size=batch_size, seed=seed),
        BucketSampler(sizes, batch_size=batch_size, seed=seed),
        LengthOrderSampler(sizes, batch_size=batch_size),
    ]


@pytest.mark.spec(27)
@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=120),
    st.integers(1, 20),
    st.integers(0, 2**40),
    st.integers(0, 5),
)
def test_every_example_comes_exactly_once_in_every_epoch(
    lengths: list[int], batch_size: int, seed: int, epoch: int
) -> None:
    for sampler in plans(lengths, batch_size, seed):
        parts = batches(sampler, epoch)
        assert sorted(row for part in parts for row in part) == list(range(len(lengths)))
        assert sorted(map(len, parts))[1:] == [batch_size] * (len(parts) - 1)  # one batch at most is smaller


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: ShuffledSampler(90, batch_size=4, seed=seed),
        lambda seed: BucketSampler(LENGTHS[:90], batch_size=4, seed=seed),
    ],
)
def test_seeds_and_epochs_have_orders_of_their_own(make: Callable[[int], Sampler]) -> None:
    orders = {json.dumps(batches(make(seed), epoch)) for seed in range(4) for epoch in range(4)}
    assert len(orders) == 16
    assert batches(make(3), 2) == batches(make(3), 2)


def test_asking_out_of_order_changes_nothing() -> None:
    sampler = BucketSampler(LENGTHS[:90], batch_size=4, seed=1)
    expected = batches(sampler, 0), batches(sampler, 1)
    mixed = [
        (sampler.batch(1, number).tolist(), sampler.batch(0, number).tolist())
        for number in reversed(range(sampler.batches_in(0)))
    ]
    assert ([first for _, first in reversed(mixed)], [second for second, _ in reversed(mixed)]) == expected


def test_another_process_finds_the_same_batches() -> None:
    program = (
        "import json, numpy as np\nfrom seqlab.batches.samplers import *\nlengths = np.arange(200) * 7919 %"
        " 101\nmade = [ShuffledSampler(200, batch_size=9, seed=5), BucketSampler(lengths, batch_size=9, seed=5),\n "
        "       BPTTSampler(5000, batch_size=4, window=16, seed=5), RandomWindowSampler(5000, batch_size=4,"
        " window=16, seed=5)]\nprint(json.dumps([[p.batch(e, n).tolist() for e in (0, 3) for n in (0, 2)] for"
        " p in made]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())[0][0] == ShuffledSampler(200, batch_size=9, seed=5).batch(0, 0).tolist()


def padded_share(sampler: Sampler) -> float:
    """Padding per real step over one epoch."""
    width = sum(
        int(LENGTHS[part].max()) * len(part)
        for part in (sampler.batch(0, number) for number in range(sampler.batches_in(0)))
    )
    return width / int(LENGTHS.sum()) - 1


@pytest.mark.spec(27)
def test_buckets_pad_little() -> None:
    shuffled = padded_share(ShuffledSampler(len(LENGTHS), batch_size=32, seed=1))
    bucketed = padded_share(BucketSampler(LENGTHS, batch_size=32, seed=1))
    assert shuffled > 1
    assert bucketed < 0.08


def test_batches_of_an_epoch_are_not_sorted_by_length() -> None:
    sampler = BucketSampler(LENGTHS, batch_size=32, seed=1)
    longest = [int(LENGTHS[sampler.batch(0, number)].max()) for number in range(sampler.batches_in(0))]
    assert abs(float(np.corrcoef(np.arange(len(longest)), longest)[0, 1])) < 0.3


@pytest.mark.spec(27)
def test_a_batch_size_of_one_is_for_inspection() -> None:
    assert all(len(part) == 1 for part in batches(BucketSampler(LENGTHS[:30], batch_size=1, seed=1), 0))


def test_long_examples_share_a_batch_with_few_others() -> None:
    sampler = LengthOrderSampler(np.array([30, 9, 1, 9, 5]), batch_size=3, most_steps=18)
    assert [sampler.batch(0, number).tolist() for number in range(sampler.batches_in(0))] == [
        [0],
        [1, 3],
        [4, 2],
    ]


def test_evaluation_reads_the_longest_first() -> None:
    sampler = LengthOrderSampler(np.array([3, 9, 1, 9, 5]), batch_size=2)
    assert batches(sampler, 0) == batches(sampler, 7) == [[1, 3], [4, 0], [2]]


streams = st.tuples(st.integers(1, 9), st.integers(1, 12), st.integers(0, 400)).map(
    lambda sizes: (*sizes[:2], sizes[0] * sizes[1] + 1 + sizes[2])
)


@given(streams, st.integers(0, 2**40), st.integers(0, 3))
def test_each_lane_goes_on_where_it_ended_and_no_step_comes_twice(
    sizes: tuple[int, int, int], seed: int, epoch: int
) -> None:
    batch_size, window, num_steps = sizes
    sampler = BPTTSampler(num_steps, batch_size=batch_size, window=window, seed=seed)
    parts = batches(sampler, epoch)
    for before, after in pairwise(parts):
        assert after == [start + window for start in before]
    seen = [step for part in parts for start in part for step in range(start, start + window)]
    assert len(seen) == len(set(seen))
    assert min(seen) >= 0
    assert max(seen) + 1 <= num_steps - 1  # the last target is a step of the stream


@given(streams, st.integers(0, 2**40))
def test_an_epoch_of_lanes_leaves_out_less_than_two_batches_and_only_one_of_a_few(
    sizes: tuple[int, int, int], seed: int
) -> None:
    batch_size, window, num_steps = sizes
    sampler = BPTTSampler(num_steps, batch_size=batch_size, window=window, seed=seed)
    left_out = num_steps - 1 - sampler.batches_in(0) * batch_size * window
    assert 0 <= left_out < (1 if sampler.batches_in(0) < 9 else 2) * batch_size * window


@given(streams, st.integers(0, 2**40))
def test_two_epochs_of_lanes_read_every_step(sizes: tuple[int, int, int], seed: int) -> None:
    """The end of a small text is no smaller a part of it than its beginning."""
    batch_size, window, num_steps = sizes
    sampler = BPTTSampler(num_steps, batch_size=batch_size, window=window, seed=seed)
    seen = {
        step
        for epoch in (0, 1)
        for part in batches(sampler, epoch)
        for start in part
        for step in range(start, start + window)
    }
    assert seen == set(range(num_steps - 1))


def test_window_borders_move_from_epoch_to_epoch() -> None:
    sampler = BPTTSampler(
        10_001, batch_size=10, window=100, seed=1
    )  # ten windows per lane would fill it to the last step
    assert len({sampler.batch(epoch, 0)[0] % 100 for epoch in range(60)}) > 30


@pytest.mark.spec(35)
@given(st.integers(1, 9), st.integers(1, 30), st.integers(0, 300), st.integers(0, 2**40))
def test_random_windows_with_their_targets_lie_inside_the_stream(
    batch_size: int, window: int, more: int, seed: int
) -> None:
    num_steps = window + 1 + more
    sampler = RandomWindowSampler(num_steps, batch_size=batch_size, window=window, seed=seed)
    for number in range(min(5, sampler.batches_in(0))):
        starts = sampler.batch(0, number)
        assert len(starts) == batch_size
        assert starts.min() >= 0
        assert starts.max() + window + 1 <= num_steps


@pytest.mark.spec(35)
def test_random_windows_start_everywhere_equally_often() -> None:
    sampler = RandomWindowSampler(61, batch_size=50, window=11, seed=3)  # 50 places to start
    starts = np.concatenate([sampler.batch(epoch, 0) for epoch in range(200)])
    counts = np.bincount(starts, minlength=50)
    assert ((counts - 200) ** 2 / 200).sum() < 86  # one in a thousand with 49 degrees of freedom
    assert len(counts) == 50


def test_batches_by_tokens_hold_every_example_once_and_no_more_than_fits() -> None:
    random = np.random.default_rng(1)
    lengths = random.integers(1, 30, (500, 1)) + random.integers(
        0, 3, (500, 2)
    )  # long texts have long translations
    sampler = TokenBucketSampler(lengths, batch_tokens=400, seed=7)
    seen = []
    for epoch in (0, 1):
        batches = [sampler.batch(epoch, number) for number in range(sampler.batches_in(epoch))]
        assert sorted(np.concatenate(batches).tolist()) == list(range(500))
        padded = [len(batch) * int(lengths[batch].max(axis=0).sum()) for batch in batches]
        assert max(padded) <= 400
        assert lengths.sum() > 0.8 * sum(padded)  # little is padded
        seen.append([batch.tolist() for batch in batches])
    assert seen[0] != seen[1]
    again = TokenBucketSampler(lengths, batch_tokens=400, seed=7)
    assert [again.batch(1, number).tolist() for number in range(again.batches_in(1))] == seen[1]
    alone = TokenBucketSampler(np.array([[3, 3], [900, 5], [3, 4]]), batch_tokens=20, seed=1)
    assert sorted(len(alone.batch(0, number)) for number in range(alone.batches_in(0))) == [
        1,
        2,
    ]  # what is too long stands alone

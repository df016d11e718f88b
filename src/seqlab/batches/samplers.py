"""Which examples form a batch, and in which order: computed from (seed, epoch), never
stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from seqlab.core.seeds import derive

Indices = NDArray[np.int64]

POOL = 50
"""Number of batches per pool that is sorted by length: large enough for similar lengths, small enough to stay random."""

ENOUGH_TO_SPARE_ONE = 10
"""Minimum number of batches per epoch for which dropping one does not matter."""


class Sampler(ABC):
    """The batches of every epoch, by number. The same seed gives the same batches in any process."""

    @abstractmethod
    def batches_in(self, epoch: int) -> int: ...

    @abstractmethod
    def batch(self, epoch: int, number: int) -> Indices:
        """Example numbers, or start positions of windows."""


class ShuffledSampler(Sampler):
    """Every example once per epoch, in a new random order."""

    def __init__(self, num_examples: int, *, batch_size: int, seed: int) -> None:
        self._num_examples = num_examples
        self._batch_size = batch_size
        self._seed = seed
        self._epoch = -1
        self._order: list[Indices] = []

    def batches_in(self, epoch: int) -> int:
        return -(-self._num_examples // self._batch_size)

    def batch(self, epoch: int, number: int) -> Indices:
        return self._batches_of(epoch)[number]

    def _batches_of(self, epoch: int) -> list[Indices]:
        if epoch != self._epoch:  # the order of the current epoch is cached
            self._order = self._arrange(np.random.default_rng(derive(self._seed, "order", epoch)))
            self._epoch = epoch
        return self._order

    def _arrange(self, random: np.random.Generator) -> list[Indices]:
        return self._cut(random.permutation(self._num_examples))

    def _cut(self, order: Indices) -> list[Indices]:
        return [order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)]


class BucketSampler(ShuffledSampler):
    """Every example once per epoch; examples of similar length share a batch, so there is little padding.

    The shuffled examples are split into pools of many batches, each pool is sorted by length and split into
    batches, and the batches are shuffled.
    """

    def __init__(self, lengths: NDArray[np.int64], *, batch_size: int, seed: int) -> None:
        super().__init__(len(lengths), batch_size=batch_size, seed=seed)
        self._lengths = lengths

    def _arrange(self, random: np.random.Generator) -> list[Indices]:
        order = random.permutation(self._num_examples)
        pool = self._batch_size * POOL
        pools = [order[start : start + pool] for start in range(0, len(order), pool)]
        batches = [
            batch
            for members in pools
            for batch in self._cut(members[np.argsort(self._lengths[members], kind="stable")])
        ]
        return [batches[place] for place in random.permutation(len(batches))]


class TokenBucketSampler(ShuffledSampler):
    """Every example once per epoch; a batch has as many examples of similar length as fit into a number of padded
    tokens.

    lengths: one column for each side of a pair; a batch is as long on each side as its longest example.
    """

    def __init__(self, lengths: NDArray[np.int64], *, batch_tokens: int, seed: int) -> None:
        """lengths: (examples, sides)"""
        super().__init__(len(lengths), batch_size=1, seed=seed)
        self._lengths = lengths
        self._batch_tokens = batch_tokens

    def batches_in(self, epoch: int) -> int:
        return len(self._batches_of(epoch))

    def _arrange(self, random: np.random.Generator) -> list[Indices]:
        order = random.permutation(self._num_examples)
        mean = max(1.0, float(self._lengths.sum(axis=1).mean()))
        pool = max(1, int(POOL * self._batch_tokens / mean))
        batches = [
            batch
            for start in range(0, len(order), pool)
            for batch in self._fill(self._by_length(order[start : start + pool]))
        ]
        return [batches[place] for place in random.permutation(len(batches))]

    def _by_length(self, members: Indices) -> Indices:
        return members[np.lexsort([self._lengths[members, side] for side in range(self._lengths.shape[1])])]

    def _fill(self, members: Indices) -> list[Indices]:
        """Group adjacent examples until one more would exceed the limit; an example that is too long gets a batch
        of its own.
        """
        batches, start, longest = [], 0, np.zeros(self._lengths.shape[1], np.int64)
        for end, member in enumerate(members):
            longest = np.maximum(longest, self._lengths[member])
            if end > start and (end + 1 - start) * int(longest.sum()) > self._batch_tokens:
                batches.append(members[start:end])
                start, longest = end, self._lengths[member]
        return [*batches, members[start:]]


class LengthOrderSampler(Sampler):
    """Every example once, longest first, the same in every epoch: for evaluation, where the order does not matter.

    A batch has at most `batch_size` examples and, padded, at most `most_steps` steps (or one example that is
    longer), so that long examples do not need more memory than short ones.
    """

    def __init__(self, lengths: NDArray[np.int64], *, batch_size: int, most_steps: int = 1 << 62) -> None:
        order = np.argsort(-lengths, kind="stable")
        self._batches: list[Indices] = []
        start = 0
        while start < len(order):
            size = min(batch_size, max(1, most_steps // max(1, int(lengths[order[start]]))))
            self._batches.append(order[start : start + size])
            start += size

    def batches_in(self, epoch: int) -> int:
        return len(self._batches)

    def batch(self, epoch: int, number: int) -> Indices:
        return self._batches[number]


class BPTTSampler(Sampler):
    """A stream cut into as many lanes as the batch has rows; each batch continues where the previous one ended.

    The state of a recurrent model can be carried over. The lanes rarely cover the whole stream: the first epoch
    leaves out its end, the second its beginning, and later ones start at a random offset, so that window
    boundaries move.
    """

    def __init__(self, num_steps: int, *, batch_size: int, window: int, seed: int) -> None:
        usable = num_steps - 1  # the last step is only a target
        steps_per_batch = batch_size * window
        assert usable >= steps_per_batch, (
            f"{batch_size} lanes of {window} steps do not fit into a stream of {num_steps} steps"
        )
        self._batches = usable // steps_per_batch
        if (
            self._batches >= ENOUGH_TO_SPARE_ONE and usable % steps_per_batch < window
        ):  # too short to move the boundaries
            self._batches -= 1
        self._spare = usable - self._batches * steps_per_batch
        self._lane_starts = np.arange(batch_size, dtype=np.int64) * self._batches * window
        self._window = window
        self._seed = seed

    def batches_in(self, epoch: int) -> int:
        return self._batches

    def batch(self, epoch: int, number: int) -> Indices:
        return self._lane_starts + self._offset(epoch) + number * self._window

    def _offset(self, epoch: int) -> int:
        if epoch < 2:
            return (0, self._spare)[epoch]
        return derive(self._seed, "offset", epoch) % (self._spare + 1)


class RandomWindowSampler(Sampler):
    """Windows that start anywhere in a stream; an epoch has as many as would cover the stream once."""

    def __init__(self, num_steps: int, *, batch_size: int, window: int, seed: int) -> None:
        self._num_starts = max(1, num_steps - window)
        self._batches = max(1, num_steps // (batch_size * window))
        self._batch_size = batch_size
        self._seed = seed

    def batches_in(self, epoch: int) -> int:
        return self._batches

    def batch(self, epoch: int, number: int) -> Indices:
        random = np.random.default_rng(derive(self._seed, "window", epoch, number))
        return random.integers(0, self._num_starts, self._batch_size, dtype=np.int64)

"""The KV cache: keys and values of the steps so far."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

Keys = Float[Tensor, "batch heads source key"]
Values = Float[Tensor, "batch heads source value"]
MIN_CAPACITY = 64


class KVCache:
    """Keys and values in a buffer with spare capacity, so that a new step is appended without copying the
    others.

    A cache is immutable: `extend` returns a longer one. Both share their memory as long as the longer one is
    the only continuation; a second continuation of the same cache gets its own memory. Nothing is shared if
    gradients are needed.
    """

    def __init__(self, buffer: KVBuffer, *, start: int, end: int) -> None:
        self._buffer = buffer
        self._start = start
        self._end = end

    @classmethod
    def from_tensors(cls, keys: Keys, values: Values) -> Self:
        return cls(KVBuffer(keys, values, used=keys.shape[2]), start=0, end=keys.shape[2])

    @property
    def num_sequences(self) -> int:
        return len(self._buffer.keys)

    @property
    def length(self) -> int:
        return self._end - self._start

    @property
    def keys(self) -> Keys:
        return self._buffer.keys[:, :, self._start : self._end]

    @property
    def values(self) -> Values:
        return self._buffer.values[:, :, self._start : self._end]

    def extend(self, keys: Keys, values: Values) -> KVCache:
        """The cache with further steps appended."""
        buffer = self._buffer
        if torch.is_grad_enabled() and any(
            part.requires_grad for part in (keys, values, buffer.keys, buffer.values)
        ):
            return KVCache.from_tensors(
                torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2)
            )
        cache = self.extend_empty(keys.shape[2])
        cache.keys[:, :, self.length :] = keys
        cache.values[:, :, self.length :] = values
        return cache

    def extend_empty(self, steps: int) -> KVCache:
        """The cache with uninitialized steps appended, which the caller must fill."""
        buffer, start, end = self._buffer, self._start, self._end + steps
        if not buffer.can_append(steps, end=self._end):
            start, end = 0, self.length + steps
            buffer = KVBuffer.with_capacity(self.keys, self.values, capacity=max(MIN_CAPACITY, 2 * end))
        buffer.used = end
        return KVCache(buffer, start=start, end=end)

    def truncate(self, length: int) -> KVCache:
        """Keep only the last steps; earlier ones are freed at the next reallocation."""
        return KVCache(self._buffer, start=max(self._start, self._end - length), end=self._end)

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> KVCache:
        """The cache of the selected sequences, in any order and possibly repeated."""
        buffer = self._buffer
        if torch.equal(rows, torch.arange(len(buffer.keys), device=rows.device)):
            return self
        if not buffer.has_capacity:
            return KVCache.from_tensors(self.keys.index_select(0, rows), self.values.index_select(0, rows))
        return KVCache(
            buffer.index_select(rows, start=self._start, end=self._end), start=self._start, end=self._end
        )

    def reorder(self, rows: Int[Tensor, " rows"]) -> KVCache:
        """Like self[rows], but this cache must not be used afterwards: its memory may be changed.

        Only sequences whose cache changes are written.
        """
        buffer = self._buffer
        is_newest = buffer.can_append(0, end=self._end)
        if (
            not buffer.has_capacity
            or len(rows) != len(buffer.keys)
            or not is_newest
            or torch.is_grad_enabled()
        ):
            return self[rows]
        buffer.reorder_(rows, start=self._start, end=self._end)
        return self


class KVBuffer:
    """The buffer that several caches share: one block for keys and one for values, of which the first `used`
    steps are written.

    In a block (batch, heads, room, size) the steps of one head of one sequence are contiguous. A search that
    reorders its sequences copies these steps, but not the spare capacity.
    """

    def __init__(self, keys: Keys, values: Values, *, used: int, has_capacity: bool = False) -> None:
        self.keys, self.values, self.used, self.has_capacity = keys, values, used, has_capacity

    @classmethod
    def with_capacity(cls, keys: Keys, values: Values, *, capacity: int) -> Self:
        batch, heads, _, size = keys.shape
        memory = cls(
            keys.new_empty(batch, heads, capacity, size),
            values.new_empty(batch, heads, capacity, values.shape[3]),
            used=keys.shape[2],
            has_capacity=True,
        )
        memory.keys[:, :, : memory.used] = keys
        memory.values[:, :, : memory.used] = values
        return memory

    def can_append(self, steps: int, *, end: int) -> bool:
        """Whether this many steps fit, and nothing has been written after this step yet."""
        foreign = (
            self.keys.is_inference() and not torch.is_inference_mode_enabled()
        )  # inference tensors must not be changed outside inference mode
        return self.used == end and end + steps <= self.keys.shape[2] and not foreign

    def index_select(self, rows: Int[Tensor, " rows"], *, start: int, end: int) -> KVBuffer:
        """A new buffer for some of the sequences, with the steps from start to end and the same capacity."""
        blocks = [block.new_empty(len(rows), *block.shape[1:]) for block in (self.keys, self.values)]
        head_rows = self._head_rows(rows)
        for block, new in zip((self.keys, self.values), blocks, strict=True):
            _by_head(new, start, end).copy_(_by_head(block, start, end).index_select(0, head_rows))
        return KVBuffer(*blocks, used=end, has_capacity=True)

    def reorder_(self, rows: Int[Tensor, " batch"], *, start: int, end: int) -> None:
        """Sequence b continues from sequence rows_b: copies the steps from start to end where the two
        differ.
        """
        changed = (rows != torch.arange(len(rows), device=rows.device)).nonzero().squeeze(1)
        to, of = self._head_rows(changed), self._head_rows(rows[changed])
        for block in (self.keys, self.values):
            written = _by_head(block, start, end)
            written.index_copy_(0, to, written.index_select(0, of))  # all reads happen before the first write

    def _head_rows(self, rows: Int[Tensor, " rows"]) -> Int[Tensor, " pieces"]:
        """Every head of these sequences."""
        heads = self.keys.shape[1]
        return (rows.unsqueeze(1) * heads + torch.arange(heads, device=rows.device)).flatten()


def _by_head(
    block: Float[Tensor, "batch heads room size"], start: int, end: int
) -> Float[Tensor, "pieces steps"]:
    """Some steps of each head of each sequence as a contiguous view."""
    return block.view(-1, block.shape[2] * block.shape[3])[:, start * block.shape[3] : end * block.shape[3]]

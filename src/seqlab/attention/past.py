"""Keys and values of the steps so far, kept for the steps to come."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

Keys = Float[Tensor, "batch heads source key"]
Values = Float[Tensor, "batch heads source value"]
SMALLEST = 64


class Past:
    """Keys and values in memory with room to spare, so that a new step is written behind the others without copying them.

    It never changes for its holder: `extended` gives a longer one. Both share their memory as long as the longer one is the only
    continuation; a second continuation of the same past gets memory of its own. Where gradients are needed nothing is shared.
    """

    def __init__(self, memory: Memory, *, start: int, end: int) -> None:
        self._memory = memory
        self._start = start
        self._end = end

    @classmethod
    def of(cls, keys: Keys, values: Values) -> Self:
        return cls(Memory(keys, values, used=keys.shape[2]), start=0, end=keys.shape[2])

    @property
    def num_sequences(self) -> int:
        return len(self._memory.keys)

    @property
    def length(self) -> int:
        return self._end - self._start

    @property
    def keys(self) -> Keys:
        return self._memory.keys[:, :, self._start : self._end]

    @property
    def values(self) -> Values:
        return self._memory.values[:, :, self._start : self._end]

    def extended(self, keys: Keys, values: Values) -> Past:
        """With further steps behind."""
        memory = self._memory
        if torch.is_grad_enabled() and any(part.requires_grad for part in (keys, values, memory.keys, memory.values)):
            return Past.of(torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2))
        if memory.can_be_written(keys.shape[2], behind=self._end):
            memory.write(keys, values)
            return Past(memory, start=self._start, end=memory.used)
        memory = Memory.with_room(self.keys, self.values, room=max(SMALLEST, 2 * (self.length + keys.shape[2])))
        memory.write(keys, values)
        return Past(memory, start=0, end=memory.used)

    def recent(self, length: int) -> Past:
        """The last steps alone; what was before is forgotten when memory next moves."""
        return Past(self._memory, start=max(self._start, self._end - length), end=self._end)

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> Past:
        """The past of some of the sequences, in another order or several times."""
        memory = self._memory
        if torch.equal(rows, torch.arange(len(memory.keys), device=rows.device)):
            return self
        # over the first axis of whole memory, room and all: several times faster than over a part of it
        picked = Memory(memory.keys.index_select(0, rows), memory.values.index_select(0, rows), used=self._end)
        return Past(picked, start=self._start, end=self._end)


class Memory:
    """What several pasts share: one block for keys and one for values, of which the first `used` places are written."""

    def __init__(self, keys: Keys, values: Values, *, used: int) -> None:
        self.keys, self.values, self.used = keys, values, used

    @classmethod
    def with_room(cls, keys: Keys, values: Values, *, room: int) -> Self:
        batch, heads, _, size = keys.shape
        memory = cls(keys.new_empty(batch, heads, room, size), values.new_empty(batch, heads, room, values.shape[3]), used=0)
        memory.write(keys, values)
        return memory

    def can_be_written(self, steps: int, *, behind: int) -> bool:
        """Whether so many steps fit in, and nobody has written behind this place yet."""
        foreign = self.keys.is_inference() and not torch.is_inference_mode_enabled()  # such memory may not be changed outside
        return self.used == behind and behind + steps <= self.keys.shape[2] and not foreign

    def write(self, keys: Keys, values: Values) -> None:
        start, self.used = self.used, self.used + keys.shape[2]
        self.keys[:, :, start : self.used] = keys
        self.values[:, :, start : self.used] = values

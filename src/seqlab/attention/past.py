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
        if memory.block is None:
            return Past.of(self.keys.index_select(0, rows), self.values.index_select(0, rows))
        return Past(memory.picked(rows, start=self._start, end=self._end), start=self._start, end=self._end)

    def moved(self, rows: Int[Tensor, " rows"]) -> Past:
        """As self[rows] for a holder who gives this past up: its memory may be changed. Only sequences that get another past are written."""
        memory = self._memory
        is_newest = memory.can_be_written(0, behind=self._end)
        if memory.block is None or len(rows) != len(memory.keys) or not is_newest or torch.is_grad_enabled():
            return self[rows]
        places = (rows != torch.arange(len(rows), device=rows.device)).nonzero().squeeze(1)
        written = memory.steps(self._start, self._end)
        written.index_copy_(0, places, written.index_select(0, rows[places]))  # all are read before the first is written
        return self


class Memory:
    """What several pasts share: keys and values, of which the first `used` places are written.

    With room to spare both stand in one block (batch, room, all that belongs to one step), so that what a sequence has so far is one piece
    of memory: a search that goes on from other sequences copies whole pieces, and nothing of the room behind them.
    """

    def __init__(self, keys: Keys, values: Values, *, used: int, block: Float[Tensor, "batch room step"] | None = None) -> None:
        self.keys, self.values, self.used, self.block = keys, values, used, block

    @classmethod
    def with_room(cls, keys: Keys, values: Values, *, room: int) -> Self:
        batch, heads, _, size = keys.shape
        block = keys.new_empty(batch, room, heads * (size + values.shape[3]))
        memory = cls(*_both(block, heads, size), used=0, block=block)
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

    def steps(self, start: int, end: int) -> Float[Tensor, "batch steps"]:
        """Everything of some steps, one row for each sequence."""
        assert self.block is not None
        return self.block.flatten(1)[:, start * self.block.shape[2] : end * self.block.shape[2]]

    def picked(self, rows: Int[Tensor, " rows"], *, start: int, end: int) -> Memory:
        """Memory of their own for some of the sequences, with the steps from start to end in it and as much room."""
        assert self.block is not None
        block = self.block.new_empty(len(rows), *self.block.shape[1:])
        memory = Memory(*_both(block, self.keys.shape[1], self.keys.shape[3]), used=end, block=block)
        memory.steps(start, end).copy_(self.steps(start, end).index_select(0, rows))
        return memory


def _both(block: Float[Tensor, "batch room step"], heads: int, key: int) -> tuple[Keys, Values]:
    """Keys and values that stand in one block."""
    keys, values = block.split([heads * key, block.shape[2] - heads * key], dim=2)
    return keys.unflatten(2, (heads, key)).transpose(1, 2), values.unflatten(2, (heads, -1)).transpose(1, 2)

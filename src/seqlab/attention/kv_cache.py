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
        past = self.grown(keys.shape[2])
        past.keys[:, :, self.length :] = keys
        past.values[:, :, self.length :] = values
        return past

    def grown(self, steps: int) -> Past:
        """With places for further steps behind, which whoever asks for them has yet to write."""
        memory, start, end = self._memory, self._start, self._end + steps
        if not memory.can_be_written(steps, behind=self._end):
            start, end = 0, self.length + steps
            memory = Memory.with_room(self.keys, self.values, room=max(SMALLEST, 2 * end))
        memory.used = end
        return Past(memory, start=start, end=end)

    def recent(self, length: int) -> Past:
        """The last steps alone; what was before is forgotten when memory next moves."""
        return Past(self._memory, start=max(self._start, self._end - length), end=self._end)

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> Past:
        """The past of some of the sequences, in another order or several times."""
        memory = self._memory
        if torch.equal(rows, torch.arange(len(memory.keys), device=rows.device)):
            return self
        if not memory.has_room:
            return Past.of(self.keys.index_select(0, rows), self.values.index_select(0, rows))
        return Past(memory.picked(rows, start=self._start, end=self._end), start=self._start, end=self._end)

    def moved(self, rows: Int[Tensor, " rows"]) -> Past:
        """As self[rows] for a holder who gives this past up: its memory may be changed. Only sequences that get another past are written."""
        memory = self._memory
        is_newest = memory.can_be_written(0, behind=self._end)
        if not memory.has_room or len(rows) != len(memory.keys) or not is_newest or torch.is_grad_enabled():
            return self[rows]
        memory.move(rows, start=self._start, end=self._end)
        return self


class Memory:
    """What several pasts share: one block for keys and one for values, of which the first `used` places are written.

    In a block with room (batch, heads, room, size) what one head of one sequence has so far is one piece of memory. A search that goes on
    from other sequences copies such pieces, and nothing of the room behind them.
    """

    def __init__(self, keys: Keys, values: Values, *, used: int, has_room: bool = False) -> None:
        self.keys, self.values, self.used, self.has_room = keys, values, used, has_room

    @classmethod
    def with_room(cls, keys: Keys, values: Values, *, room: int) -> Self:
        batch, heads, _, size = keys.shape
        memory = cls(
            keys.new_empty(batch, heads, room, size), values.new_empty(batch, heads, room, values.shape[3]), used=keys.shape[2], has_room=True
        )
        memory.keys[:, :, : memory.used] = keys
        memory.values[:, :, : memory.used] = values
        return memory

    def can_be_written(self, steps: int, *, behind: int) -> bool:
        """Whether so many steps fit in, and nobody has written behind this place yet."""
        foreign = self.keys.is_inference() and not torch.is_inference_mode_enabled()  # such memory may not be changed outside
        return self.used == behind and behind + steps <= self.keys.shape[2] and not foreign

    def picked(self, rows: Int[Tensor, " rows"], *, start: int, end: int) -> Memory:
        """Memory of their own for some of the sequences, with the steps from start to end in it and as much room."""
        blocks = [block.new_empty(len(rows), *block.shape[1:]) for block in (self.keys, self.values)]
        pieces = self._pieces(rows)
        for block, new in zip((self.keys, self.values), blocks, strict=True):
            _by_piece(new, start, end).copy_(_by_piece(block, start, end).index_select(0, pieces))
        return Memory(*blocks, used=end, has_room=True)

    def move(self, rows: Int[Tensor, " batch"], *, start: int, end: int) -> None:
        """Sequence b goes on from what rows_b had: of every step from start to end, and only where it is another one."""
        places = (rows != torch.arange(len(rows), device=rows.device)).nonzero().squeeze(1)
        to, of = self._pieces(places), self._pieces(rows[places])
        for block in (self.keys, self.values):
            written = _by_piece(block, start, end)
            written.index_copy_(0, to, written.index_select(0, of))  # all are read before the first is written

    def _pieces(self, rows: Int[Tensor, " rows"]) -> Int[Tensor, " pieces"]:
        """Every head of these sequences."""
        heads = self.keys.shape[1]
        return (rows.unsqueeze(1) * heads + torch.arange(heads, device=rows.device)).flatten()


def _by_piece(block: Float[Tensor, "batch heads room size"], start: int, end: int) -> Float[Tensor, "pieces steps"]:
    """Some steps of each head of each sequence, side by side as they lie in memory."""
    return block.view(-1, block.shape[2] * block.shape[3])[:, start * block.shape[3] : end * block.shape[3]]

"""An endless stream of batches whose position can be saved and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seqlab.batches.batch import Batch
from seqlab.batches.samplers import Indices, Sampler


@dataclass(frozen=True)
class Cursor:
    """The position of the next batch. This is all that an exact resume needs: the order follows from the seed and the epoch."""

    epoch: int = 0
    batch: int = 0


class Loader:
    """Yields the batches of a sampler, epoch after epoch, from any position.

    `collate` gets the indices of a batch and whether it is the first of its epoch.
    """

    def __init__(
        self, sampler: Sampler, collate: Callable[[Indices, bool], Batch], *, cursor: Cursor | None = None
    ) -> None:
        self.sampler = sampler
        self.cursor = cursor or Cursor()
        self._collate = collate

    def take(self) -> Batch:
        epoch, number = self.cursor.epoch, self.cursor.batch
        batch = self._collate(self.sampler.batch(epoch, number), number == 0)
        ended = number + 1 >= self.sampler.batches_in(epoch)
        self.cursor = Cursor(epoch + 1, 0) if ended else Cursor(epoch, number + 1)
        return batch


def one_pass(sampler: Sampler, collate: Callable[[Indices, bool], Batch]) -> Iterator[Batch]:
    """The batches of one epoch, for evaluation."""
    for number in range(sampler.batches_in(0)):
        yield collate(sampler.batch(0, number), number == 0)

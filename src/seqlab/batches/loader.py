"""An endless stream of batches whose place can be written down and found again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seqlab.batches.batch import Batch
from seqlab.batches.samplers import Indices, Plan


@dataclass(frozen=True)
class Position:
    """The next batch to take. All that an exact resume needs: order follows from the seed and the epoch."""

    epoch: int = 0
    batch: int = 0


class Feed:
    """Takes batch after batch of a plan, epoch after epoch, from any position.

    `collate` gets the indices of a batch and whether it is the first of its epoch.
    """

    def __init__(
        self, plan: Plan, collate: Callable[[Indices, bool], Batch], *, position: Position | None = None
    ) -> None:
        self.plan = plan
        self.position = position or Position()
        self._collate = collate

    def take(self) -> Batch:
        epoch, number = self.position.epoch, self.position.batch
        batch = self._collate(self.plan.batch(epoch, number), number == 0)
        ended = number + 1 >= self.plan.batches_in(epoch)
        self.position = Position(epoch + 1, 0) if ended else Position(epoch, number + 1)
        return batch


def one_pass(plan: Plan, collate: Callable[[Indices, bool], Batch]) -> Iterator[Batch]:
    """The batches of one epoch, for evaluation."""
    for number in range(plan.batches_in(0)):
        yield collate(plan.batch(0, number), number == 0)

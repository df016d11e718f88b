"""What training asks of a task, and what it tells whoever watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.feed import Feed, Position

Carry = tuple[Tensor, ...]


@dataclass(frozen=True)
class BatchLoss:
    """The summed loss of a batch, over how many targets, how many of them were guessed right, and the state to carry into the next batch."""

    total: Tensor
    count: int
    correct: int
    carry: Carry = ()


@dataclass(frozen=True)
class Validation:
    """How good the model is on held-out data: one value to compare by, and facts for the journal."""

    value: float
    higher_is_better: bool
    facts: Mapping[str, Any] = field(default_factory=dict)

    def beats(self, best: float | None) -> bool:
        if best is None:
            return True
        return self.value > best if self.higher_is_better else self.value < best


class Trainable(Protocol):
    """A task as the loop sees it."""

    def feed(self, position: Position) -> Feed: ...

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss: ...

    def validate(self, model: nn.Module) -> Validation: ...

    def describe_rows(self, batch: Batch) -> str:
        """Where the examples of a batch stand, for messages."""


@dataclass(frozen=True)
class StepReport:
    """One update, for whoever watches."""

    step: int
    total_steps: int
    epoch: int
    loss: float
    rate: float
    seconds_left: float


class Watcher(Protocol):
    """Shows progress; the command line has one, tests and notebooks another."""

    def stepped(self, report: StepReport) -> None: ...

    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None: ...


class Nobody:
    """Watches nothing."""

    def stepped(self, report: StepReport) -> None: ...

    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None: ...

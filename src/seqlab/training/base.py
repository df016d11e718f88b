"""What training asks of a task, and what it tells whoever watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader

Carry = tuple[Tensor, ...]


@dataclass(frozen=True)
class BatchLoss:
    """The summed loss of a batch, over how many targets, how many of them were guessed right, and the state
    to carry into the next batch.

    Where targets have weights, `count` is the sum of these, so that total / count is the weighted mean, and
    `seen` is the number of targets.
    """

    total: Tensor
    count: float
    correct: int
    carry: Carry = ()
    seen: int | None = None


@dataclass(frozen=True)
class Validation:
    """How good the model is on held-out data: one value to compare by, facts for the journal, and the loss
    that decides between equal values.
    """

    value: float
    higher_is_better: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    loss: float | None = None

    def beats(self, best: float | None) -> bool:
        if best is None:
            return True
        return self.value > best if self.higher_is_better else self.value < best

    def wins_tie(self, best: float | None, best_loss: float | None) -> bool:
        """Whether the value is that of the best one, at a lower loss."""
        return (
            self.value == best and self.loss is not None and best_loss is not None and self.loss < best_loss
        )


class Trainable(Protocol):
    """An objective as the loop sees it."""

    def loader(self, cursor: Cursor) -> Loader: ...

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        """The loss of a batch. The model is only called, so that it may be wrapped, for instance in
        DistributedDataParallel.

        step: the number of the update, 0 for the first; all batches of an accumulated update have the same.
        carry: what the loss of the batch before gave to be carried on.
        """

    def validate(self, model: nn.Module) -> Validation: ...

    def describe_rows(self, batch: Batch) -> str:
        """Where the examples of a batch stand, for messages."""

    def sample(self, model: nn.Module) -> str:
        """A piece of what the model makes at this moment, for the journal; nothing where there is nothing to
        show.
        """


@dataclass(frozen=True)
class StepReport:
    """One update, for whoever watches."""

    step: int
    total_steps: int
    epoch: int
    loss: float
    rate: float
    seconds_left: float
    sequences: int = 0
    """Sequences of the update; 0 in windows over a text stream, which has none."""
    tokens: int = 0
    """Tokens, or steps of numeric sequences, without padding."""


class Callback(Protocol):
    """Shows progress; the command line has one, tests and notebooks another."""

    def on_step(self, report: StepReport) -> None: ...

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None: ...


class NullCallback:
    """Watches nothing."""

    def on_step(self, report: StepReport) -> None: ...

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None: ...

"""The interfaces of training: the objective that it trains, and the callbacks that follow its progress."""

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
    """The summed loss of a batch, the number of targets, the number predicted correctly, and the state to
    carry into the next batch. `correct` is None where predictions are not right or wrong.

    If targets are weighted, `count` is the sum of the weights, so that total / count is the weighted mean,
    and `seen` is the number of targets.
    """

    total: Tensor
    count: float
    correct: int | None
    carry: Carry = ()
    seen: int | None = None


@dataclass(frozen=True)
class Validation:
    """The result of a validation: the value to compare, facts for the journal, and the loss, which breaks
    ties.
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
        """Whether the value equals the best one at a lower loss."""
        return (
            self.value == best and self.loss is not None and best_loss is not None and self.loss < best_loss
        )


class Trainable(Protocol):
    """An objective as the loop sees it."""

    def loader(self, cursor: Cursor) -> Loader: ...

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        """Compute the loss of a batch. The model is only called, so it can be wrapped, for example in
        DistributedDataParallel.

        step: the 0-based number of the update; the same for all batches of an accumulated update.
        carry: the state returned with the loss of the previous batch.
        """

    def validate(self, model: nn.Module) -> Validation: ...

    def describe_rows(self, batch: Batch) -> str:
        """Say where the examples of a batch come from, for messages."""

    def sample(self, model: nn.Module) -> str:
        """Generate a sample with the model as it is now, for the journal; empty if the task generates
        nothing.
        """


@dataclass(frozen=True)
class StepReport:
    """What callbacks learn about one update."""

    step: int
    total_steps: int
    epoch: int
    loss: float
    rate: float
    seconds_left: float
    sequences: int = 0
    """Sequences in the update; 0 for windows over a text stream."""
    tokens: int = 0
    """Tokens, or steps of numeric sequences, not counting padding."""


class Callback(Protocol):
    """Follows training, for example to show its progress."""

    def on_step(self, report: StepReport) -> None: ...

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None: ...


class NullCallback:
    """Does nothing."""

    def on_step(self, report: StepReport) -> None: ...

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None: ...

"""The objective of a task, which training uses: batches, loss and validation metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Generic, Self, TypeVar

from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.codec import Codec
from seqlab.tasks.split import Split
from seqlab.tasks.teacher import Teacher
from seqlab.training.base import BatchLoss, Carry, Validation

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnySplit = TypeVar("AnySplit", bound=Split)


class Objective(ABC, Generic[AnyCodec, AnySplit]):
    """What training minimizes, on the splits `train` and `valid`."""

    def __init__(
        self, codec: AnyCodec, splits: Mapping[str, AnySplit], *, teacher: Teacher | None = None
    ) -> None:
        self.codec = codec
        self.splits = splits
        self.teacher = teacher
        """A finished model whose outputs are learned in addition to the targets (distillation)."""

    @property
    def recipe(self) -> Recipe:
        return self.codec.recipe

    def with_splits(self, splits: Mapping[str, AnySplit]) -> Self:
        """Return the objective with another split `valid`; what was fitted on the split `train` is kept."""
        objective = copy(self)
        objective.splits = splits
        return objective

    def init_weights(self, model: nn.Module) -> None:
        """Initialize parameters of a new network that depend on the training split, before any weights are
        loaded into it.
        """

    def fit_statistics(self, model: nn.Module) -> None:
        """Let layers with count statistics read the training split once, before the first update."""

    @abstractmethod
    def loader(self, cursor: Cursor) -> Loader:
        """Return the batches of the training split, starting from a cursor."""

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        """Compute the loss of a batch by calling `model(...)` only, so that wrappers and hooks work.

        The total is a sum over `count` targets, at least one; the loop divides. An objective that cannot use
        `self.teacher` has a spec that rejects `distillation.run`.

        step: the 0-based number of the update. carry: the state returned with the loss of the previous
        batch; () for tasks without streams.
        """

    @abstractmethod
    def validate(self, model: nn.Module) -> Validation:
        """Score the split `valid`: one value to select the best weights, and facts named `valid_…`.

        The loop calls it in evaluation mode, without gradients.
        """

    @abstractmethod
    def describe_rows(self, batch: Batch) -> str:
        """Say where the examples of a batch are in the data, for messages."""

    def require_targets(self, count: int, *, noun: str) -> None:
        """Reject validation data without any targets, whose loss would be NaN."""
        if not count:
            valid = self.splits["valid"]
            raise DataError(
                f"the validation data has no {noun}, so the model cannot be validated.",
                where=valid.rows.name,
                cure="Use other validation data (data.valid=FILE) or a larger data.valid_share.",
            )

    def sample(self, model: nn.Module) -> str:
        """Generate a sample with the current model for the journal; empty for tasks that do not generate."""
        return ""

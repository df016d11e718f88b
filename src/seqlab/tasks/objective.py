"""The part of a task that training sees: batches, the loss, the validation measure."""

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
        """A finished model whose outputs are learned besides the targets (distillation)."""

    @property
    def recipe(self) -> Recipe:
        return self.codec.recipe

    def with_splits(self, splits: Mapping[str, AnySplit]) -> Self:
        """The same objective with another split `valid`; what was fitted to the split `train` is kept."""
        objective = copy(self)
        objective.splits = splits
        return objective

    def init_weights(self, model: nn.Module) -> None:
        """Initialize parameters of a new network that depend on the training split, before any weights are
        loaded into it.
        """

    def fit_statistics(self, model: nn.Module) -> None:
        """Let layers that count see the training split once, before the first update."""

    @abstractmethod
    def loader(self, cursor: Cursor) -> Loader:
        """The batches of the training split, from a position on."""

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        """The loss of a batch, through `model(...)` alone, so that wrappers and hooks work.

        The total is a sum over `count` targets, at least one; the loop divides. An objective that cannot use
        `self.teacher` has a spec that rejects `distillation.run`.

        step: the number of the update, 0 for the first. carry: what the loss of the previous batch carries on;
        () for tasks without streams.
        """

    @abstractmethod
    def validate(self, model: nn.Module) -> Validation:
        """Score the split `valid`: one value to choose the best weights by, and facts named `valid_…`.

        The loop calls it in evaluation mode, without gradients.
        """

    @abstractmethod
    def describe_rows(self, batch: Batch) -> str:
        """Where the examples of a batch are in the data, for messages."""

    def require_targets(self, count: int, *, noun: str) -> None:
        """Refuse validation data of which nothing is predicted: its loss would not be a number."""
        if not count:
            valid = self.splits["valid"]
            raise DataError(
                f"the validation data has no {noun}, so nothing can be validated.",
                where=valid.rows.name,
                cure="Give other validation data (data.valid=FILE) or a larger data.valid_share.",
            )

    def sample(self, model: nn.Module) -> str:
        """What the model generates at this moment, for the journal; empty for tasks that generate nothing."""
        return ""

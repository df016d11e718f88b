"""Tasks whose models come from elsewhere: they answer, and are not trained here."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.feed import Feed, Position
from seqlab.core.errors import UsageError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.base import Evaluation, Task
from seqlab.training.base import BatchLoss, Carry, Validation


class OnlyPredicts(Task):
    """Every question that belongs to training or scoring is refused with the same words."""

    @classmethod
    def complete(cls, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        return _refuse(recipe.task)

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        return _refuse(recipe.task)

    def attach(self, split: str, source: Source) -> None:
        _refuse(self.recipe.task)

    def feed(self, position: Position) -> Feed:
        return _refuse(self.recipe.task)

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss:
        return _refuse(self.recipe.task)

    def validate(self, model: nn.Module) -> Validation:
        return _refuse(self.recipe.task)

    def describe_rows(self, batch: Batch) -> str:
        return _refuse(self.recipe.task)

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        return _refuse(self.recipe.task)


def _refuse(task: str, **_: Any) -> NoReturn:
    raise UsageError(
        f"models of the task {task} can be imported and asked, but not trained or scored here yet.",
        cure='Ask one: seqlab import PATH, then seqlab predict RUN "some text"',
    )

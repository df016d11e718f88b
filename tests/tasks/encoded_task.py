"""The parts of a task around encoded data, as tests of tasks use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.spec import find_spec
from seqlab.tasks.teacher import Teacher


@dataclass(frozen=True)
class EncodedTask:
    """A fitted codec with its splits, and the other parts around them.

    Parts are typed as Any: a test knows which task it asks for.
    """

    parts: TaskParts
    recipe: Recipe
    codec: Any
    splits: Mapping[str, Any]

    @property
    def notes(self) -> list[str]:
        """The notes of all splits, as training prints them."""
        return [f"{split.name}: {note}" for split in self.splits.values() for note in split.notes]

    def build_model(self) -> nn.Module:
        """A new network as training starts with it, apart from what its counting layers learn."""
        model = self.parts.build_model(self.codec)
        self.objective().init_weights(model)
        return model

    def objective(self, *, teacher: Teacher | None = None) -> Any:
        return self.parts.objective(self.codec, self.splits, teacher=teacher)

    def evaluator(self) -> Any:
        return self.parts.evaluator(self.codec, self.splits)

    def evaluate(self, model: nn.Module, split: str, calibration: Calibration | None = None) -> Evaluation:
        """The scores of a network on a split."""
        return self.parts.evaluator(self.codec, self.splits).evaluate(
            self.predictor(model, calibration), split
        )

    def predictor(self, model: nn.Module, calibration: Calibration | None = None) -> Any:
        return self.parts.predictor(self.codec, model, calibration or self.parts.calibration())

    def with_recipe(self, recipe: Recipe) -> EncodedTask:
        """The same codec and data under other settings."""
        return replace(self, recipe=recipe, codec=replace(self.codec, recipe=recipe))


def encode_task(recipe: Recipe, sources: Mapping[str, Source]) -> EncodedTask:
    """Fit the codec of a recipe's task on the source `train`, and encode every source."""
    parts = find_spec(recipe.task).load_parts()
    codec = parts.codec.fit(recipe, sources["train"])
    splits = {name: codec.encode_split(name, source) for name, source in sources.items()}
    return EncodedTask(parts, recipe, codec, splits)

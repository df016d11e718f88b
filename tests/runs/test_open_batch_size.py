"""A task that leaves the batch size open still trains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import seqlab
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.classification.spec import ClassificationSpec
from seqlab.tasks.spec import task_specs


class ForgetfulSpec(ClassificationSpec):
    """A plug-in whose author did not think of the batch size."""

    name = "forgetful"

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        recipe, reasons = super().fill_defaults(recipe, train)
        return recipe.changed("training", batch_size=0), reasons


@pytest.fixture
def task() -> Iterator[str]:
    task_specs.register("forgetful")(ForgetfulSpec)
    yield "forgetful"
    task_specs._parts.pop("forgetful")


def test_a_task_that_sets_no_batch_size_trains_with_the_default(task: str, tmp_path: Path) -> None:
    rows = [f"{'good' if n % 2 else 'bad'} film {n},{'pos' if n % 2 else 'neg'}\n" for n in range(60)]
    (tmp_path / "rows.csv").write_text("text,label\n" + "".join(rows))
    small = ["training.threads=1", "training.steps=1", "model.hidden_size=4"]
    run = seqlab.train(tmp_path / "rows.csv", *small, task=task, out=tmp_path / "run", verbose=False)
    assert run.recipe.training.batch_size == 32
